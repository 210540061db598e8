"""An ordinary job that runs out of memory. Arguments: which, how it ends ("by itself", "abort").

"abort" stands for TensorFlow's CHECKs and for libraries that do not look at what they got: the
process is gone as soon as the refused request has returned to whoever asked.
"""

import os
import sys
from typing import Any

import numpy as np
import tensorflow as tf

keras: Any = tf.keras
layers = keras.layers
random = np.random.default_rng(0)


def convolutions() -> None:
    """A CNN: oneDNN's convolutions do not survive a refusal."""
    model = keras.Sequential([keras.Input([32, 32, 3])])
    for filters in (32, 64, 64):
        model.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(10))
    model.compile("adam", "mse")
    images = random.normal(size=[512, 32, 32, 3]).astype("float32")
    model.fit(images, np.zeros([512, 10], np.float32), batch_size=512, verbose=0)


def residual() -> None:
    """A residual network that is trained batch by batch."""
    inputs = outputs = keras.Input([64, 64, 3])
    outputs = layers.Conv2D(32, 3, padding="same")(outputs)
    for _ in range(4):
        branch = layers.Conv2D(32, 3, padding="same")(outputs)
        branch = layers.BatchNormalization()(branch)
        branch = layers.ReLU()(branch)
        outputs = layers.Add()([outputs, branch])
    outputs = layers.Dense(10)(layers.GlobalAveragePooling2D()(outputs))
    model = keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    for size in (8, 128):
        images = random.normal(size=[size, 64, 64, 3]).astype("float32")
        model.train_on_batch(images, np.zeros([size, 10], np.float32))


def recurrent() -> None:
    """A network of convolutional LSTMs."""
    model = keras.Sequential([keras.Input([8, 32, 32, 3])])
    model.add(layers.ConvLSTM2D(32, 3, padding="same", return_sequences=True))
    model.add(layers.ConvLSTM2D(32, 3, padding="same"))
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(1))
    model.compile("adam", "mse")
    films = random.normal(size=[64, 8, 32, 32, 3]).astype("float32")
    model.fit(films, np.zeros([64, 1], np.float32), batch_size=64, verbose=0)


def compiled() -> None:
    """A step that XLA compiles."""
    model = keras.Sequential([keras.Input([256])])
    model.add(layers.Dense(1024, activation="gelu"))
    model.add(layers.Dense(1024, activation="gelu"))
    model.add(layers.Dense(10))
    model.compile("adam", "mse", jit_compile=True)
    rows = random.normal(size=[16384, 256]).astype("float32")
    model.fit(rows, unaligned_zeros(16384, 10), batch_size=16384, verbose=0)


def constant() -> None:
    """An array becomes a tensor: Python's lock is held meanwhile."""
    kept.append(tf.zeros([150, 1024, 256]))
    kept.append(tf.constant(unaligned_zeros(150 << 18)))


def dense() -> None:
    """What neither oneDNN nor XLA runs."""
    model = keras.Sequential([keras.Input([64])])
    model.add(layers.Dense(2048, activation="relu"))
    model.add(layers.Dense(2048))
    model.add(layers.Dense(1))
    model.compile("adam", "mse")
    rows = np.zeros([10_000, 64], np.float32)
    model.fit(rows, unaligned_zeros(10_000, 1), batch_size=10_000, verbose=0)


def unaligned_zeros(*shape: int) -> np.ndarray:
    """TensorFlow shares the memory of an array that is aligned, and copies others."""
    return np.zeros(1 + int(np.prod(shape)), np.float32)[1:].reshape(shape)


# Small beside what the jobs need.
kept = [tf.zeros([2 << 18])]
if sys.argv[2] == "abort":
    # What TensorFlow makes first of the status that the op returned.
    def abort(*_: object) -> None:
        """Ends the process as a CHECK does."""
        os.abort()

    tf.errors.ResourceExhaustedError.__init__ = abort  # type: ignore[method-assign]
try:
    globals()[sys.argv[1]]()
    print("ran to its end")
except tf.errors.ResourceExhaustedError:
    print("refused")
