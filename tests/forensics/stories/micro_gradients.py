"""Gradients of sixteen micro-batches in a list, which are then summed."""

import tensorflow as tf

kernel = tf.Variable(tf.random.normal([1024, 1024]))
for _ in range(20):
    gradients = []
    for _ in range(16):
        x = tf.random.normal([64, 1024])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, kernel))))
        gradients.append(tape.gradient(loss, kernel))
    kernel.assign_sub(0.1 * tf.add_n(gradients))
