"""A profile is captured while a recording runs, and outlives it.

Argument: the logdir. Prints whether a second recording was refused.
"""

import sys
from pathlib import Path

import oom_forensics
import tensorflow as tf

logdir = Path(sys.argv[1])
tf.zeros([1])
profile = tf.profiler.experimental.Profile(str(logdir / "profile"))
with oom_forensics.record(logdir / "record"):
    before = tf.fill([100, 100], 1.0)
    profile.__enter__()
    during = tf.fill([200, 100], 1.0)
    try:
        with oom_forensics.record(logdir / "second"):
            pass
    except oom_forensics.RecorderError as error:
        print(error)
after = tf.fill([300, 100], 1.0)
profile.__exit__(None, None, None)
