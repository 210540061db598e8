"""Trains a model of Keras 2, whichever package has it, into a run. Argument: a logdir.

The lines that have to be found are marked with `line: NAME`.
"""

import sys
from pathlib import Path

import numpy as np
import oom_forensics
import tensorflow as tf

keras = tf.keras
layers = keras.layers


class Head(layers.Layer):
    """A layer of the user's with an op of its own beside a layer of Keras."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(64)  # line: inner dense

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Twice as much, by a line of the user's."""
        return self.dense(inputs) * tf.reduce_sum(tf.exp(inputs))


inputs = layers.Input((16, 16, 3))
x = layers.Conv2D(32, 3, activation="relu")(inputs)  # line: convolution
x = layers.Flatten()(x)
x = Head()(x)  # line: head
model = keras.Model(inputs, layers.Dense(10)(x))
optimizer = keras.optimizers.Adam()  # line: optimizer
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)  # line: loss
model.compile(optimizer, loss)
with oom_forensics.record(Path(sys.argv[1])):
    images = np.zeros([64, 16, 16, 3], np.float32)
    model.fit(images, np.zeros([64], np.int32), batch_size=32, verbose=0)
print(layers.Dense.__module__)
