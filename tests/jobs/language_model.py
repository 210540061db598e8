"""A small language model: the logits over the vocabulary are the largest tensor."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=16)
options = parser.parse_args()

LENGTH, VOCABULARY, WIDTH = 128, 8000, 64

inputs = keras.Input([LENGTH], dtype="int32")
x = keras.layers.Embedding(VOCABULARY, WIDTH)(inputs)
attended = keras.layers.MultiHeadAttention(4, 16)(x, x, use_causal_mask=True)
x = keras.layers.LayerNormalization()(x + attended)
model = keras.Model(inputs, keras.layers.Dense(VOCABULARY)(x))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

tokens = np.random.default_rng(0).integers(0, VOCABULARY, [64, LENGTH + 1])
model.fit(tokens[:, :-1], tokens[:, 1:], batch_size=options.batch_size, verbose=2)
