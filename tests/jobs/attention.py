"""A small transformer that classifies sequences."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=16)
options = parser.parse_args()

LENGTH, WIDTH, HEADS = 256, 64, 8

inputs = keras.Input([LENGTH], dtype="int32")
x = keras.layers.Embedding(1000, WIDTH)(inputs)
for _ in range(2):
    attended = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(x, x)
    x = keras.layers.LayerNormalization()(x + attended)
    hidden = keras.layers.Dense(4 * WIDTH, activation="gelu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(WIDTH)(hidden))
outputs = keras.layers.Dense(5)(keras.layers.GlobalAveragePooling1D()(x))
model = keras.Model(inputs, outputs)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

random = np.random.default_rng(0)
texts = random.integers(0, 1000, [64, LENGTH])
labels = random.integers(0, 5, [64])
model.fit(texts, labels, batch_size=options.batch_size, verbose=2)
