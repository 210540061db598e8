"""Makes functions that differ in their names alone, one after the other. Argument: a logdir."""

import sys
from typing import Any

import oom_forensics
import tensorflow as tf

kept: list[Any] = []
for number in range(40):
    names: dict[str, Any] = {"tf": tf}
    exec(
        compile(f"def make_{number:02d}():\n    return tf.zeros([1000])", "made.py", "exec"), names
    )
    kept.append(names.popitem()[1]())
    # Its code is gone now; the next one's may lie where it lay.
    names.clear()
oom_forensics.snapshot(sys.argv[1])
