"""An eager loop that frees every other tensor until no hole is big enough.

Dies of an out-of-memory that is not for lack of memory: enough is free, in pieces.
"""

import sys

import tensorflow as tf

MIB = 1 << 20

logdir = sys.argv[1]
kept: list[tf.Tensor] = []
with tf.profiler.experimental.Profile(logdir):
    tensors = [tf.random.normal([512, 1024]) for _ in range(100)]
    weights = tf.Variable(tf.ones([256, 256], tf.float64))
    weights.assign_add(tf.ones_like(weights))
    kept = tensors[::2]
    del tensors
    tf.zeros([64 * MIB], tf.uint8)
raise SystemExit("this must run out of memory")
