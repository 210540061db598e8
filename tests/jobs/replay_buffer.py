"""A reinforcement learner whose replay buffer holds tensors."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--capacity", type=int, default=100_000)
options = parser.parse_args()

network = keras.Sequential(
    [keras.Input([64, 64, 4]), keras.layers.Flatten(), keras.layers.Dense(4)]
)
optimizer = keras.optimizers.SGD(1e-4)
buffer = []
for turn in range(1500):
    frame = tf.random.uniform([64, 64, 4])
    buffer.append(frame)
    del buffer[: -options.capacity]
    if turn % 50 == 49:
        batch = tf.stack(buffer[-options.batch_size :])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(network(batch)))
        variables = network.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
print("loss", float(loss))
