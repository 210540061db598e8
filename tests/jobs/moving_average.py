"""A training step that keeps an average of the weights every epoch."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--to-numpy", action="store_true")
options = parser.parse_args()

model = keras.Sequential(
    [keras.Input([512]), keras.layers.Dense(2048, activation="relu"), keras.layers.Dense(1)]
)
model.compile("sgd", "mse")
x = tf.random.normal([256, 512])
y = tf.reduce_sum(x, 1, keepdims=True)
checkpoints = []
for _ in range(options.epochs):
    model.fit(x, y, batch_size=128, verbose=0)
    if options.to_numpy:
        checkpoints.append([variable.numpy() for variable in model.weights])
    else:
        checkpoints.append([tf.identity(variable) for variable in model.weights])
print(len(checkpoints), "checkpoints")
