"""A few training steps of layers in a scope, and then one request too many."""

import sys

import tensorflow as tf

logdir = sys.argv[1]
narrow = tf.Variable(tf.random.normal([512, 1024]), name="narrow")
wide = tf.Variable(tf.random.normal([1024, 4096]), name="wide")


def layers(features: tf.Tensor) -> tf.Tensor:
    """Two layers in a scope, so that there are scopes in a scope."""
    with tf.name_scope("encoder"):
        with tf.name_scope("narrow"):
            features = tf.matmul(features, narrow)
        with tf.name_scope("wide"):
            return tf.matmul(features, wide)


encoder = tf.function(layers)
kept = []
with tf.profiler.experimental.Profile(logdir):
    for step in range(4):
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            kept.append(encoder(tf.random.normal([512, 512])))
    kept.append(tf.zeros([64, 2**20]))
raise SystemExit("this must run out of memory")
