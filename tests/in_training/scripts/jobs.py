# mypy: disable-error-code="misc,untyped-decorator"
"""Small jobs of every kind, each recorded into a run of its own. Argument: a logdir.

The lines that have to be found are marked with `line: NAME`.
"""

import sys
from pathlib import Path

import keras
import numpy as np
import oom_forensics
import tensorflow as tf
from keras import layers
from oom_forensics.in_training.evidence import providers

logdir = Path(sys.argv[1])
IMAGES = np.zeros([64, 32, 32, 3], np.float32)
LABELS = np.zeros([64], np.int32)


def cnn_fit() -> None:
    """A functional model in `fit`: every op of the graph is called from one line."""
    inputs = layers.Input((32, 32, 3))
    x = layers.Conv2D(8, 3, activation="relu")(inputs)  # line: first convolution
    x = layers.Conv2D(16, 3, activation="relu")(x)  # line: second convolution
    x = layers.Flatten()(x)
    model = keras.Model(inputs, layers.Dense(10)(x))  # line: dense
    optimizer = keras.optimizers.Adam()  # line: optimizer
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)  # line: loss
    model.compile(optimizer, loss)
    model.fit(IMAGES, LABELS, batch_size=32, verbose=0)  # line: fit


class Block(layers.Layer):
    """A layer of the user's with an op of its own beside a layer of Keras."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(64)  # line: inner dense

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Twice as much, by a line of the user's."""
        return self.dense(inputs) * tf.exp(inputs)  # line: own op


def subclassed() -> None:
    """A model of the user's own class."""

    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()  # line: block

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            return self.block(inputs)

    model = Model()
    model.compile("sgd", "mse")
    model.fit(np.zeros([64, 64], np.float32), np.zeros([64, 64], np.float32), verbose=0)


def own_step() -> None:
    """A train step of the user's, with control flow that AutoGraph rewrites."""
    weights = tf.Variable(tf.random.uniform([256, 256]))

    @tf.function
    def step(batch: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            hidden = batch
            for _ in tf.range(3):
                hidden = tf.matmul(hidden, weights)  # line: multiplication in a loop
            loss = tf.reduce_sum(tf.square(hidden))
        weights.assign_sub(tape.gradient(loss, weights))  # line: gradient
        return loss

    for _ in range(2):
        step(tf.ones([64, 256]))


def lstm() -> None:
    """A recurrent layer: a loop inside a layer of Keras."""
    model = keras.Sequential([layers.LSTM(32), layers.Dense(1)])  # line: recurrent
    model.compile("adam", "mse")
    model.fit(np.zeros([32, 20, 8], np.float32), np.zeros([32, 1], np.float32), verbose=0)


def eager_loop() -> None:
    """No graph at all."""
    kept = []
    for _ in range(5):
        kept.append(tf.random.uniform([128, 128]))  # line: eager tensor


def data_map() -> None:
    """An input pipeline with an op of the user's and a function of Python."""

    def halve(image: tf.Tensor) -> tf.Tensor:
        return image.numpy() / 2

    def augment(image: tf.Tensor) -> tf.Tensor:
        brighter = tf.image.adjust_contrast(image, 2.0) * 3.0  # line: augmentation
        return tf.py_function(halve, [brighter], tf.float32)  # line: function of Python

    for _ in tf.data.Dataset.from_tensor_slices(IMAGES).map(augment).batch(8):
        pass


def data_batches() -> None:
    """An input pipeline whose batches no op asks for, and no thread of Python's."""
    images = tf.data.Dataset.from_tensor_slices(IMAGES)
    brighter = images.map(lambda image: image * 3.0, num_parallel_calls=2)  # line: map
    batches = brighter.batch(8)  # line: batch
    for _ in batches.prefetch(2):
        pass


for job in (cnn_fit, subclassed, own_step, lstm, eager_loop, data_map, data_batches):
    with oom_forensics.record(logdir / job.__name__):
        job()
print(providers.failures)
