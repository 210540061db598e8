"""The older TensorFlows for GPUs on the stand-in, with the cuDNN that each of them opens.

Each wheel is 600 MB, so `tools/setup` installs none of them: `tools/try_gpu_versions` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recordings.recording import Recording

Run = Callable[..., Recording]
Failures = Callable[..., list[Any]]
MIB = 1 << 20
BATCH = "--batch-size=2048"
ACTIVATION_BYTES = 4 * 2048 * 32 * 32 * 64

older = pytest.mark.parametrize("version", ["2.18.1", "2.15.1"])


@older
def test_the_pool_of_a_gpu_has_the_map_of_tensorflows_own_dump(
    run: Run, failures: Failures, version: str
) -> None:
    ooms = failures(run("cnn.py", BATCH, exit_code=1, tf={}, version=version, MEMORY="1900MiB"))
    # Kernels that run beside each other may be refused in one moment.
    for oom in ooms:
        assert oom["allocator"] == "GPU_0_bfc#0"
        assert oom["verdict"]["kind"] == "CAPACITY"
    assert ACTIVATION_BYTES in [int(oom["request"]["requestedBytes"]) for oom in ooms]


@older
def test_cudas_own_pool_has_the_limit_of_its_device(
    run: Run, failures: Failures, version: str
) -> None:
    allocator = {"TF_GPU_ALLOCATOR": "cuda_malloc_async"}
    settings = {"version": version, "MEMORY": "1900MiB"}
    ooms = failures(run("cnn.py", BATCH, exit_code=1, tf=allocator, **settings), has_map=False)
    for oom in ooms:
        assert oom["allocator"] == "gpu_async_0#0"
        assert oom["verdict"]["kind"] == "CAPACITY"
    assert ooms


@older
def test_the_pool_of_pinned_memory_has_the_map_of_tensorflows_own_dump(
    run: Run, failures: Failures, version: str
) -> None:
    limit = {"TF_GPU_HOST_MEM_LIMIT_IN_MB": "64"}
    ooms = failures(run("cnn.py", BATCH, exit_code=1, tf=limit, version=version, MEMORY="1900MiB"))
    for oom in ooms:
        assert oom["allocator"] == "gpu_host_bfc#0"
        assert int(oom["limitBytes"]) == 64 * MIB
    assert ooms
