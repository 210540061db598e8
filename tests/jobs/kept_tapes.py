"""A meta-learning experiment that keeps the persistent tape of every task."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=512)
parser.add_argument("--tasks", type=int, default=60)
parser.add_argument("--drop-tapes", action="store_true")
options = parser.parse_args()

first = tf.Variable(tf.random.normal([64, 512], stddev=0.1))
second = tf.Variable(tf.random.normal([512, 1], stddev=0.1))

tapes = []
total = 0.0
for _ in range(options.tasks):
    x = tf.random.normal([options.batch_size, 64])
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    with tf.GradientTape(persistent=True) as tape:
        hidden = tf.nn.relu(x @ first)
        loss = tf.reduce_mean(tf.square(hidden @ second - y))
    for variable in (first, second):
        variable.assign_sub(0.01 * tape.gradient(loss, variable))
    if not options.drop_tapes:
        tapes.append(tape)
    total += float(loss)
print("mean loss", total / options.tasks)
