"""Trains with Keras and with a loop of its own. Argument: a folder for three recordings.

Knows OOM Forensics only to record without TensorFlow's profiler.
"""

import sys

import numpy as np
import oom_forensics
import tensorflow as tf

layers = tf.keras.layers
model = tf.keras.Sequential([layers.Input((16,)), layers.Dense(64, "relu"), layers.Dense(1)])
model.compile("adam", "mse")
rows = np.zeros((64, 16), np.float32)
labels = rows[:, :1]


def fit() -> None:
    """Trains on four batches in each of two epochs, and validates after each."""
    model.fit(rows, labels, batch_size=16, epochs=2, verbose=0, validation_data=(rows, labels))


model.train_on_batch(rows, labels)
with oom_forensics.record(f"{sys.argv[1]}/keras"):
    fit()
    tf.square(tf.ones([8, 8]))
with oom_forensics.record(f"{sys.argv[1]}/own_loop"):
    for step in range(100, 103):
        with tf.profiler.experimental.Trace("train", step_num=step):
            # Keras counts its own; the step is still that of the loop.
            model.train_on_batch(rows, labels)
with tf.profiler.experimental.Profile(f"{sys.argv[1]}/profile"):
    fit()
oom_forensics.snapshot(f"{sys.argv[1]}/snapshot")
