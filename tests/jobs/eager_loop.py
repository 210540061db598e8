"""An eager research loop with a large batch."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=4096)
options = parser.parse_args()

layers = [keras.layers.Dense(512, activation="tanh") for _ in range(4)]
head = keras.layers.Dense(1)
optimizer = keras.optimizers.Adam()

for _ in range(3):
    x = tf.random.normal([options.batch_size, 128])
    with tf.GradientTape() as tape:
        h = x
        for layer in layers:
            h = h + layer(h) if h.shape[-1] == 512 else layer(h)
        loss = tf.reduce_mean(tf.square(head(h)))
    variables = [v for layer in [*layers, head] for v in layer.trainable_variables]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
print("loss", float(loss))
