"""An eager loop of the program's own that keeps a tensor of each round, and tells of no step.

Argument: the logdir.
"""

import sys

import oom_forensics
import tensorflow as tf

weights = [tf.Variable(tf.random.normal(shape)) for shape in ([32, 64], [64, 64])]


def train(rows: tf.Tensor) -> tf.Tensor:
    """One step; returns what the first layer makes of the rows."""
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(rows @ weights[0])
        loss = tf.reduce_mean((hidden @ weights[1]) ** 2)
    for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
        weight.assign_sub(0.1 * gradient)
    return hidden


kept = []
with oom_forensics.record(sys.argv[1]):
    for _ in range(40):
        kept.append(train(tf.random.normal([256, 32])))
