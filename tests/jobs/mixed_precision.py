"""A wide network in mixed precision with a loss scale."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8192)
options = parser.parse_args()

keras.mixed_precision.set_global_policy("mixed_bfloat16")
model = keras.Sequential([keras.Input([128])])
for _ in range(4):
    model.add(keras.layers.Dense(512, activation="gelu"))
model.add(keras.layers.Dense(10, dtype="float32"))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam()), loss)

random = np.random.default_rng(0)
features = random.random([8192, 128]).astype("float32")
labels = random.integers(0, 10, [8192])
model.fit(features, labels, batch_size=options.batch_size, verbose=2)
