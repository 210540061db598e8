"""Trains in small batches, then evaluates in one that is too large."""

import keras
import numpy as np

random = np.random.default_rng(0)
x = random.normal(size=[4000, 128]).astype("float32")
y = random.normal(size=[4000, 1]).astype("float32")
model = keras.Sequential(
    [keras.Input([128]), keras.layers.Dense(4096, activation="relu"), keras.layers.Dense(1)]
)
model.compile("sgd", "mse")
model.fit(x, y, batch_size=64, epochs=1, verbose=0)
model.evaluate(x, y, batch_size=4000, verbose=0)
