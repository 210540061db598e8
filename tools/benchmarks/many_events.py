"""Records real eager operations: many memory events and no out-of-memory.

many_events.py LOGDIR [MEMORY_EVENTS]
"""

from __future__ import annotations

import os
import sys

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "1024"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

OPERATIONS_PER_STEP = 200
KEPT = 64


def main() -> None:
    """Adds tensors of changing sizes, keeping the last few."""
    import tensorflow as tf

    logdir = sys.argv[1]
    events = int(sys.argv[2] if len(sys.argv) > 2 else 600_000)
    sources = [tf.zeros([64 + 97 * size]) for size in range(40)]
    kept = [sources[0]] * KEPT
    # Without the operations themselves the trace holds little but memory.
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=1)
    with tf.profiler.experimental.Profile(logdir, options):
        for step in range(events // 2 // OPERATIONS_PER_STEP):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                for operation in range(OPERATIONS_PER_STEP):
                    kept[operation % KEPT] = tf.math.negative(sources[(step + operation) % 40])


if __name__ == "__main__":
    main()
