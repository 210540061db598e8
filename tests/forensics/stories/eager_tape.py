"""The first step of an eager loop over 24 equal layers, written by hand."""

import tensorflow as tf

weights = [tf.Variable(tf.random.normal([512, 512]) * 0.04) for _ in range(24)]
biases = [tf.Variable(tf.zeros([512])) for _ in range(24)]
scales = [tf.Variable(tf.ones([512])) for _ in range(24)]

for _ in range(10):
    h = tf.random.normal([1024, 512])
    with tf.GradientTape() as tape:
        for w, b, s in zip(weights, biases, scales, strict=True):
            h = tf.nn.relu(tf.matmul(h, w) + b) * s
        loss = tf.reduce_mean(h)
    for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
        w.assign_sub(0.1 * g)
