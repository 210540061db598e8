"""A network that Keras compiles with XLA, as it does by itself on a GPU."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8192)
options = parser.parse_args()

model = keras.Sequential(
    [
        keras.Input([256]),
        keras.layers.Dense(1024, activation="gelu"),
        keras.layers.Dense(1024, activation="gelu"),
        keras.layers.Dense(10),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, jit_compile=True)

random = np.random.default_rng(0)
features = random.normal(size=[8192, 256]).astype("float32")
labels = random.integers(0, 10, [8192])
model.fit(features, labels, batch_size=options.batch_size, verbose=2)
