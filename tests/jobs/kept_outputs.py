"""An eager research loop that keeps each step's features for a plot."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=512)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--keep", choices=["tensors", "numbers"], default="tensors")
options = parser.parse_args()

encoder = keras.Sequential([keras.Input([64]), keras.layers.Dense(2048, activation="relu")])
head = keras.layers.Dense(1)
optimizer = keras.optimizers.SGD(0.01)

history = []
for _ in range(options.steps):
    x = tf.random.normal([options.batch_size, 64])
    with tf.GradientTape() as tape:
        features = encoder(x)
        loss = tf.reduce_mean(tf.square(head(features)))
    variables = encoder.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    history.append(features if options.keep == "tensors" else float(tf.reduce_mean(features)))
print(len(history), "steps, loss", float(loss))
