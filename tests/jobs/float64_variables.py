"""A network whose whole computation is in float64."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--dtype", default="float64")
options = parser.parse_args()

keras.config.set_floatx(options.dtype)
model = keras.Sequential([keras.Input([1024])])
for _ in range(3):
    model.add(keras.layers.Dense(1024, activation="relu"))
model.add(keras.layers.Dense(1))
model.compile("adam", "mse")

random = np.random.default_rng(0)
features = random.normal(size=[512, 1024]).astype(options.dtype)
targets = random.normal(size=[512, 1]).astype(options.dtype)
model.fit(features, targets, batch_size=options.batch_size, verbose=2)
