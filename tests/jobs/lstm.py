"""A stacked LSTM over long series: the loop keeps every time step for the backward pass."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=128)
options = parser.parse_args()

LENGTH, FEATURES = 200, 16

model = keras.Sequential(
    [
        keras.Input([LENGTH, FEATURES]),
        keras.layers.LSTM(96, return_sequences=True),
        keras.layers.LSTM(96),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse")

random = np.random.default_rng(0)
series = random.normal(size=[256, LENGTH, FEATURES]).astype("float32")
targets = random.normal(size=[256, 1]).astype("float32")
model.fit(series, targets, batch_size=options.batch_size, verbose=2)
