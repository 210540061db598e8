"""The distances between all rows of a table, eagerly, at once."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=6000)
options = parser.parse_args()

rows = tf.random.normal([6000, 64])
nearest = []
for begin in range(0, 6000, options.batch_size):
    part = rows[begin : begin + options.batch_size]
    squares = tf.reduce_sum(part**2, 1)[:, None] + tf.reduce_sum(rows**2, 1)[None, :]
    distances = tf.sqrt(tf.maximum(squares - 2 * part @ tf.transpose(rows), 0.0))
    nearest.append(tf.math.top_k(-distances, 5).indices.numpy())
print(sum(len(each) for each in nearest), "rows")
