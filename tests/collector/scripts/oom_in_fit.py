"""A Keras job that runs out of memory in `fit`, under the TensorBoard callback.

Knows nothing of OOM Forensics. Argument: the logdir. Prints the notes of the error.
"""

import sys

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
model = tf.keras.Sequential(
    [
        layers.Input((64,)),
        layers.Dense(2048, activation="relu"),
        layers.Dense(2048),
        layers.Dense(1),
    ]
)
model.compile("adam", "mse")
rows = np.zeros((10_000, 64), np.float32)
callback = tf.keras.callbacks.TensorBoard(sys.argv[1])
try:
    model.fit(rows, rows[:, :1], batch_size=10_000, verbose=0, callbacks=[callback])
except tf.errors.ResourceExhaustedError as error:
    print("\n".join(getattr(error, "__notes__", [])))
