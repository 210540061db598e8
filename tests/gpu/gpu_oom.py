"""A real out-of-memory on a GPU, under the profiler: both planes must be there.

    python tests/gpu/gpu_oom.py LOGDIR

Exit 0: the trace has TensorFlow's pool and the device, or "skipped" with the reason.
"""

from __future__ import annotations

import sys
from pathlib import Path


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
    limit = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    tf.config.set_logical_device_configuration(devices[0], [limit])
    failed = False
    with tf.profiler.experimental.Profile(logdir):
        kept = []
        try:
            for _ in range(64):
                kept.append(tf.zeros([1 << 24]))
        except tf.errors.ResourceExhaustedError:
            failed = True
    trace = b"".join(path.read_bytes() for path in Path(logdir).rglob("*.xplane.pb"))
    planes = (b"/oom_forensics:GPU_0_bfc", b"/oom_forensics:cupti:0")
    missing = [plane.decode() for plane in planes if plane not in trace]
    if not failed or missing:
        print(f"FAILED: out of memory: {failed}, planes missing: {missing}")
        return 1
    print("real GPU out-of-memory: both planes are in the trace")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
