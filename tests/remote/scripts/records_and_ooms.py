"""Records, and runs out of memory, with a logdir that is a URL. Argument: the URL."""

import sys

import oom_forensics
import tensorflow as tf

kept = [tf.zeros([200, 1024, 256])]
with oom_forensics.record(sys.argv[1] + "/recorded"):
    kept.append(tf.ones([64, 1024]))
try:
    tf.zeros([100, 1024, 256])
except tf.errors.ResourceExhaustedError as error:
    print("\n".join(getattr(error, "__notes__", [])))
