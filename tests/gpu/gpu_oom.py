"""A real out-of-memory on a GPU, under the profiler: the planes must be there.

    python tests/gpu/gpu_oom.py LOGDIR
    TF_GPU_ALLOCATOR=cuda_malloc_async python tests/gpu/gpu_oom.py LOGDIR

With TensorFlow's pool the GPU is divided into two logical devices with a limit; CUDA's own
pool has none, and is filled. Exit 0: the trace has each allocator with its device, and the
device itself; or "skipped" with the reason.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

LIMIT_MIB = 1024
# Of a float32 tensor: 64 MiB under the limit, 1 GiB to fill the device.
SMALL, LARGE = 1 << 24, 1 << 28


def run_out_of_memory(tf: Any, elements: int) -> bool:
    """Fills the first logical device."""
    kept = []
    try:
        for _ in range(4096):
            kept.append(tf.zeros([elements]))
    except tf.errors.ResourceExhaustedError:
        return True
    return False


def main(logdir: str) -> int:
    """Runs into an out-of-memory and looks for the planes in the trace."""
    try:
        import tensorflow as tf
    except ImportError:
        print("skipped: no TensorFlow")
        return 0
    devices = tf.config.list_physical_devices("GPU")
    if not devices:
        print("skipped: no CUDA device that TensorFlow sees")
        return 0
    by_cuda = os.environ.get("TF_GPU_ALLOCATOR") == "cuda_malloc_async"
    if by_cuda:
        planes = [b"/oom_forensics:gpu_async_0"]
        names = [b"cuda_malloc_async", b"/device:GPU:0"]
    else:
        limits = [tf.config.LogicalDeviceConfiguration(memory_limit=LIMIT_MIB)] * 2
        tf.config.set_logical_device_configuration(devices[0], limits)
        planes = [b"/oom_forensics:GPU_0_bfc", b"/oom_forensics:GPU_1_bfc"]
        names = [b"/device:GPU:0", b"/device:GPU:1"]
        with tf.device("/device:GPU:1"):
            tf.zeros([SMALL])
    with tf.profiler.experimental.Profile(logdir):
        failed = run_out_of_memory(tf, LARGE if by_cuda else SMALL)
    trace = b"".join(path.read_bytes() for path in Path(logdir).rglob("*.xplane.pb"))
    missing = [
        wanted.decode()
        for wanted in (*planes, *names, b"/oom_forensics:cupti:0", b"failed")
        if wanted not in trace
    ]
    if not failed or missing:
        print(f"FAILED: out of memory: {failed}, missing in the trace: {missing}")
        return 1
    print(f"real GPU out-of-memory: {b', '.join(planes).decode()} are in the trace")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
