"""An eager recurrent loop over time-major series [time, batch, features]."""

import tensorflow as tf

TIME = 100
kernel = tf.Variable(tf.random.normal([64, 256]) * 0.1)
recurrent = tf.Variable(tf.random.normal([256, 256]) * 0.1)
for _ in range(5):
    series = tf.random.normal([TIME, 512, 64])
    with tf.GradientTape() as tape:
        inputs = tf.reshape(tf.matmul(tf.reshape(series, [-1, 64]), kernel), [TIME, 512, 256])
        gates = tf.sigmoid(inputs)
        mixed = tf.tanh(inputs) * gates
        loss = tf.reduce_mean(tf.reduce_sum(mixed @ recurrent, axis=0))
    tape.gradient(loss, [kernel, recurrent])
