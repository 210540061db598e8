"""A bidirectional GRU that classifies documents."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
options = parser.parse_args()

inputs = keras.Input([300], dtype="int32")
x = keras.layers.Embedding(5000, 64)(inputs)
x = keras.layers.Bidirectional(keras.layers.GRU(64))(x)
model = keras.Model(inputs, keras.layers.Dense(4)(x))
model.compile("rmsprop", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

random = np.random.default_rng(0)
documents = random.integers(0, 5000, [128, 300])
labels = random.integers(0, 4, [128])
model.fit(documents, labels, batch_size=options.batch_size, verbose=2)
