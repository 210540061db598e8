"""A tf.function with jit_compile=True that computes all pairwise distances of points."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8192)
options = parser.parse_args()


@tf.function(jit_compile=True)
def affinity_step(points, weights):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        projected = tf.nn.tanh(points @ weights)
        similar = tf.nn.softmax(projected @ tf.transpose(projected))
        loss = tf.reduce_mean(tf.square(similar @ projected - projected))
    return loss, tape.gradient(loss, weights)


weights = tf.random.normal([64, 64])
for _ in range(2):
    points = tf.random.normal([options.batch_size, 64])
    loss, gradient = affinity_step(points, weights)
    weights -= 0.1 * gradient
print("loss", float(loss))
