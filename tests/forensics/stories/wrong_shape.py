"""Targets of shape [n] less predictions of shape [n, 1] are a matrix of n times n."""

import keras
import tensorflow as tf

model = keras.Sequential([keras.Input([16]), keras.layers.Dense(32), keras.layers.Dense(1)])
for _ in range(3):
    x = tf.random.normal([40000, 16])
    y = tf.random.normal([40000])
    error = y - model(x)
    print(float(tf.reduce_mean(tf.square(error))))
