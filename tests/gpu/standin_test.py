"""Jobs that run out of memory on the stand-in GPU: TensorFlow's own GPU code, and what we say.

What that shows and what it cannot: standin/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from recordings.recording import Recording

GIB = 1 << 30
MIB = 1 << 20

Run = Callable[..., Recording]
Failures = Callable[..., list[Any]]


def kinds(oom: Any) -> set[str]:
    """What remedies there are."""
    return {remedy["kind"] for remedy in oom["remedies"]}


def test_a_pool_that_was_taken_at_once_is_short_of_memory_not_of_a_limit(
    run: Run, failures: Failures
) -> None:
    (oom,) = failures(run("cnn.py", exit_code=1, tf={}, MEMORY="4GiB"))
    # TensorFlow leaves 1.5 GiB to libraries: nobody set that, and no limit is promised of it.
    assert oom["verdict"]["kind"] == "CAPACITY"
    assert "larger_limit" not in kinds(oom)
    assert "smaller_batch" in kinds(oom)
    assert oom["allocator"] == "GPU_0_bfc#0"
    # 288 MiB of the whole data set, of which TensorFlow says that its shape is [0].
    data = next(holder["example"] for holder in oom["holders"] if "_EagerConst" in holder["key"])
    assert not data.get("hasShape")


def test_a_pool_that_grows_and_others_that_come_are_named(run: Run, failures: Failures) -> None:
    recording = run("fill.py", "--growth", "--mib=300", tf={}, MEMORY="4GiB", OTHERS="2500MiB")
    (oom,) = failures(recording)
    assert oom["verdict"]["kind"] == "GROWTH_REGIONS"
    # The limit is what the others left when the pool was made.
    assert int(oom["limitBytes"]) < GIB


def test_who_else_holds_a_device_that_cuda_manages_is_named(run: Run, failures: Failures) -> None:
    recording = run(
        "fill.py",
        "--mib=300",
        tf={"TF_GPU_ALLOCATOR": "cuda_malloc_async"},
        MEMORY="4GiB",
        OTHERS="2500MiB",
    )
    (oom,) = failures(recording, has_map=False)
    # The stand-in's other process has a number that no process has, and so no name.
    who = "2.44 GiB: process 4194305 2.44 GiB"
    assert oom["verdict"]["kind"] == "EXTERNAL"
    assert f"other processes held {who}." in oom["verdict"]["sentence"]
    assert who in recording.done.stdout + recording.done.stderr
    (remedy,) = (remedy for remedy in oom["remedies"] if remedy["kind"] == "free_device")
    assert "process 4194305 2.44 GiB" in remedy["detail"]
    assert remedy["sufficiency"] == "REQUEST_FITS"
    told = [each["sentence"] for each in oom["verdict"]["evidence"]]
    name = "NVIDIA A100-SXM4-80GB at 0000:01:00.0 has 4.00 GiB, of which "
    assert any(sentence.startswith(name) for sentence in told)


def test_logical_devices_that_share_a_gpu_are_named_as_who_holds_it(
    run: Run, failures: Failures
) -> None:
    arguments = ["--logical", "2000", "2200", "--device", "0", "1", "--mib=300"]
    first, second = failures(run("fill.py", *arguments, tf={}, MEMORY="4GiB"))
    assert first["verdict"]["kind"] == "CAPACITY"
    assert first["remedies"] == [] or "larger_limit" not in kinds(first)
    assert second["verdict"]["kind"] == "EXTERNAL"
    assert "TensorFlow's other pools on this device hold 1.95 GiB" in second["verdict"]["sentence"]
    (remedy,) = (remedy for remedy in second["remedies"] if remedy["kind"] == "free_device")
    assert "GPU_0_bfc#0" in remedy["detail"]
    assert remedy["sufficiency"] == "REQUEST_FITS"


def test_cudas_own_pool_has_the_limit_of_its_device(run: Run, failures: Failures) -> None:
    allocator = {"TF_GPU_ALLOCATOR": "cuda_malloc_async"}
    recording = run("cnn.py", exit_code=1, tf=allocator, MEMORY="4GiB")
    (oom,) = failures(recording, has_map=False)
    assert oom["allocator"] == "gpu_async_0#0"
    assert oom["verdict"]["kind"] == "CAPACITY"
    (batch,) = (remedy for remedy in oom["remedies"] if remedy["kind"] == "smaller_batch")
    assert batch["sufficiency"] in ("ENOUGH_ALONE", "REQUEST_FITS")


def test_regions_that_were_given_back_are_gone_from_the_map(run: Run, failures: Failures) -> None:
    # 1.4 GiB in one piece are there only after the pieces of 300 MiB were given back.
    recording = run("fill.py", "--growth", "--mib=300", "--larger=1400", tf={}, MEMORY="4GiB")
    runs = sorted((recording.logdir / "plugins/profile").iterdir())
    assert len(runs) == 2
    (oom,) = (oom for oom in failures(recording) if oom["request"]["requestedBytes"] != "314572800")
    assert int(oom["inUseBytes"]) >= 1400 * MIB
    assert int(oom["reservedBytes"]) <= int(oom["limitBytes"])


def test_each_gpu_of_a_mirrored_strategy_has_a_pool_and_a_replica_of_its_own(
    run: Run, failures: Failures
) -> None:
    arguments = ["--mirrored", "--batch-size=4096"]
    settings = {"MEMORY": "1900MiB", "DEVICES": "2"}
    ooms = failures(run("cnn.py", *arguments, exit_code=1, tf={}, **settings))
    # What one step asks of both is one incident.
    assert {oom["incident"] for oom in ooms} == {0}
    for oom in ooms:
        assert re.fullmatch(r"GPU_[01]_bfc#0", oom["allocator"])
        assert oom["verdict"]["kind"] == "CAPACITY"
        assert "one pool" not in oom["verdict"]["sentence"]


def test_kernels_that_tell_no_shape_have_that_of_the_graph(
    run: Run, failures: Failures, dataset: Callable[..., Any]
) -> None:
    arguments = ["--mixed", "--batch-size=2048"]
    recording = run("cnn.py", *arguments, exit_code=1, tf={}, MEMORY="1900MiB")
    (oom,) = failures(recording)
    (written,) = (recording.logdir / "plugins/profile").iterdir()
    live = dataset(written, "allocations", "--at=oom:0")["allocations"]
    (cast,) = (each for each in live if each["opName"].endswith("batch_normalization_1/Cast"))
    assert cast["shape"] == ["2048", "32", "32", "32"]
    assert cast["dtype"] == "float32"
    assert oom["verdict"]["kind"] == "CAPACITY"
    # It trains in mixed precision already.
    assert "mixed_precision" not in kinds(oom)


def test_a_constant_as_large_as_the_batch_grows_with_it(
    run: Run, dataset: Callable[..., Any]
) -> None:
    arguments = ["--mixed", "--batch-size=2048"]
    recording = run("cnn.py", *arguments, exit_code=1, tf={}, MEMORY="1900MiB")
    (written,) = (recording.logdir / "plugins/profile").iterdir()
    live = dataset(written, "allocations", "--at=oom:0")["allocations"]
    # TensorFlow adds gradients up in a variable, and keeps the zeros that it begins with.
    (zeros,) = (each for each in live if each["opName"].endswith("AddN_1/tmp_var_zeros"))
    assert int(zeros["requestedBytes"]) == 512 * MIB
    # No activation of a layer, so none that could be computed again.
    assert (zeros["role"], zeros["scope"]) == ("ROLE_UNKNOWN", "")
    (forecast,) = dataset(written, "forecast")["forecasts"]
    needs = {int(each["batch"]): int(each["highBytes"]) for each in forecast["batches"]}
    assert needs[min(needs)] < 256 * MIB


def test_memory_of_the_driver_itself_has_the_limit_of_its_device(
    run: Run, failures: Failures
) -> None:
    allocator = {"TF_GPU_ALLOCATOR": "cuda_malloc"}
    recording = run("fill.py", "--mib=300", tf=allocator, MEMORY="1900MiB")
    (oom,) = failures(recording, has_map=False)
    assert oom["verdict"]["kind"] == "CAPACITY"
    assert "The device had" in oom["verdict"]["sentence"]


def test_the_pool_of_pinned_memory_has_a_setting_of_its_own(
    run: Run, failures: Failures, dataset: Callable[..., Any]
) -> None:
    limit = {"TF_GPU_HOST_MEM_LIMIT_IN_MB": "256"}
    recording = run("cnn.py", "--batch-size=2048", exit_code=1, tf=limit, MEMORY="1900MiB")
    (oom,) = failures(recording)
    assert oom["allocator"] == "gpu_host_bfc#0"
    assert int(oom["limitBytes"]) == 256 * MIB
    codes = [remedy["code"] for remedy in oom["remedies"] if remedy["kind"] == "larger_limit"]
    assert [code.partition("=")[0] for code in codes] == ["TF_GPU_HOST_MEM_LIMIT_IN_MB"]
    # The step's graph tells what the device needs, not what is copied by way of the host.
    (written,) = (recording.logdir / "plugins/profile").iterdir()
    assert [each["orders"] for each in dataset(written, "forecast")["forecasts"]] == [[]]


def test_what_xla_asks_for_on_a_gpu_has_its_place_in_the_map(run: Run, failures: Failures) -> None:
    arguments = ["--jit=auto", "--batch-size=2048"]
    ooms = failures(run("cnn.py", *arguments, exit_code=1, tf={}, MEMORY="1900MiB"))
    assert ooms[0]["allocator"] == "GPU_0_bfc#0"
    assert ooms[0]["verdict"]["kind"] == "CAPACITY"
    # It tries algorithms of the convolution, on tensors of the real sizes.
    assert ooms[0]["request"]["opName"] == "StatefulPartitionedCall/XlaCompile"


@pytest.mark.parametrize(
    "names",
    # A convolution makes a handle of cuBLAS, too.
    [{"cudnn": "cuDNN", "cufft": "cuFFT"}, {"cublas": "cuBLAS"}, {"nccl": "NCCL"}],
    ids="-".join,
)
def test_libraries_without_memory_are_told_as_memory(
    run: Run, dataset: Callable[..., Any], names: dict[str, str]
) -> None:
    libraries = ",".join(f"{name}=600MiB" for name in names)
    settings = {"DEVICES": "2"} if "nccl" in names else {}
    recording = run(
        "libraries.py", *names, tf={}, MEMORY="1900MiB", LIBRARIES=libraries, **settings
    )
    told = library_failures(recording, dataset)
    # The replicas of NCCL fail in two threads: that is one failure.
    assert sorted(failure["library"] for failure in told) == sorted(names.values())
    for failure in told:
        assert failure["kind"] == "OUTSIDE_POOL"
        # In the run and on the exception in the same words.
        assert failure["sentence"] in recording.done.stdout
        assert failure["remedy"] in recording.done.stdout
        assert int(failure["poolsBytes"]) + int(failure["freeBytes"]) < 1900 * MIB
        limit = re.search(r"memory_limit=(\d+)\)", failure["remedy"])
        # With 1 GiB left for libraries there is room.
        assert limit is not None
        assert int(limit[1]) * MIB < 1900 * MIB - GIB


def test_a_device_without_room_for_a_context_is_told_as_memory(
    run: Run, dataset: Callable[..., Any]
) -> None:
    recording = run("libraries.py", "cublas", tf={}, MEMORY="4GiB", OTHERS="4000MiB")
    (failure,) = library_failures(recording, dataset)
    assert failure["kind"] == "OUTSIDE_POOL"
    assert failure["library"] == "a context of CUDA"
    assert failure["sentence"] in recording.done.stdout
    assert "nvidia-smi" in failure["remedy"]


def test_a_library_that_fails_on_an_empty_device_is_not_told_as_memory(
    run: Run, dataset: Callable[..., Any]
) -> None:
    recording = run("libraries.py", "cudnn", tf={}, MEMORY="8GiB", LIBRARIES="cudnn=broken")
    (failure,) = library_failures(recording, dataset)
    assert failure["kind"] == "UNKNOWN"
    assert "Memory was hardly the cause" in failure["sentence"]
    assert "versions of cuDNN" in failure["remedy"]


def test_a_copy_that_the_pool_refused_is_told_as_any_other_refusal(
    run: Run, failures: Failures
) -> None:
    recording = run("libraries.py", "copy", tf={}, MEMORY="1900MiB")
    # Nothing was in the pool, so TensorFlow has no map of it.
    (oom,) = failures(recording, has_map=False)
    assert oom["verdict"]["kind"] == "CAPACITY"
    assert "Dst tensor is not initialized" in recording.done.stdout
    assert "_EagerConst asked GPU_0_bfc#0 for 2.00 GiB" in recording.done.stdout


def library_failures(recording: Recording, dataset: Callable[..., Any]) -> list[Any]:
    """What the runs say of libraries that failed, in order."""
    runs = sorted((recording.logdir / "plugins/profile").iterdir())
    hosts = [dataset(run, "info")["hosts"][0] for run in runs]
    return [host["libraryFailure"] for host in hosts]
