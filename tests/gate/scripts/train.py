"""Trains a small network: train.py LOGDIR [UNITS of the middle layer]."""

import sys

import keras
import numpy as np
import oom_forensics
import tensorflow as tf  # noqa: F401  (loads the collector)

logdir = sys.argv[1]
units = int(sys.argv[2]) if len(sys.argv) > 2 else 256

model = keras.Sequential(
    [
        keras.Input((512,)),
        keras.layers.Dense(1024, activation="relu", name="stem"),
        keras.layers.Dense(units, activation="relu", name="middle"),
        keras.layers.Dense(10, name="head"),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images = np.zeros((256, 512), np.float32)
labels = np.zeros((256,), np.int32)
with oom_forensics.record(logdir):
    model.fit(images, labels, batch_size=64, epochs=1, verbose=0)
