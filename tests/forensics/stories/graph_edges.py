"""Messages along the edges of one graph; there is no batch."""

import numpy as np
import tensorflow as tf

random = np.random.default_rng(0)
NODES, EDGES = 5000, 34952
sender = tf.constant(random.integers(NODES, size=EDGES))
receiver = tf.constant(random.integers(NODES, size=EDGES))
nodes = tf.Variable(random.normal(size=[NODES, 64]).astype("float32"))
kernel = tf.Variable(random.normal(size=[128, 64]).astype("float32"))

for _ in range(10):
    with tf.GradientTape() as tape:
        ends = tf.concat([tf.gather(nodes, sender), tf.gather(nodes, receiver)], axis=1)
        messages = tf.nn.relu(tf.matmul(ends, kernel))
        weighted = tf.nn.sigmoid(messages) * messages
        pooled = tf.math.unsorted_segment_sum(weighted, receiver, NODES)
        loss = tf.reduce_mean(tf.square(pooled))
    tape.gradient(loss, [nodes, kernel])
