"""Generates token by token; keys and values are appended with tf.concat."""

import tensorflow as tf

LAYERS, WIDTH = 4, 128
project = [tf.Variable(tf.random.normal([WIDTH, WIDTH]) * 0.1) for _ in range(LAYERS)]
cache = [tf.zeros([32, 0, WIDTH]) for _ in range(LAYERS)]
token = tf.random.normal([32, 1, WIDTH])
for _ in range(4000):
    for layer in range(LAYERS):
        key = tf.matmul(token, project[layer])
        cache[layer] = tf.concat([cache[layer], key], axis=1)
        weights = tf.nn.softmax(tf.matmul(token, cache[layer], transpose_b=True))
        token = tf.tanh(tf.matmul(weights, cache[layer]))
