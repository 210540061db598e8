"""3D convolutions over scans."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8)
options = parser.parse_args()

model = keras.Sequential([keras.Input([32, 32, 32, 1])])
for filters in (8, 16):
    model.add(keras.layers.Conv3D(filters, 3, padding="same", activation="relu"))
    model.add(keras.layers.MaxPooling3D())
model.add(keras.layers.GlobalAveragePooling3D())
model.add(keras.layers.Dense(1))
model.compile("adam", "mse")

random = np.random.default_rng(0)
scans = random.random([16, 32, 32, 32, 1]).astype("float32")
model.fit(scans, random.random([16, 1]), batch_size=options.batch_size, verbose=2)
