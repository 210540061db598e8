"""A tf.function that is traced again for every Python number."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--as-tensor", action="store_true")
options = parser.parse_args()

table = tf.random.normal([1024, 1024]).numpy()


@tf.function
def step(x, scale):
    return tf.reduce_sum(x @ (tf.constant(table) * scale))


x = tf.random.normal([64, 1024])
total = 0.0
for index in range(options.steps):
    scale = 1.0 / (1 + index)
    total += float(step(x, tf.constant(scale) if options.as_tensor else scale))
print("total", total)
