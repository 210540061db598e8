"""A recommender whose table of items is large, trained with Adam."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--optimizer", default="adam")
options = parser.parse_args()

ITEMS, WIDTH = 100_000, 128

user = keras.Input([20], dtype="int32")
item = keras.Input([1], dtype="int32")
table = keras.layers.Embedding(ITEMS, WIDTH)
taste = keras.layers.GlobalAveragePooling1D()(table(user))
score = keras.layers.Dot(1)([taste, keras.layers.Flatten()(table(item))])
model = keras.Model([user, item], score)
model.compile(options.optimizer, "mse")

random = np.random.default_rng(0)
history = random.integers(0, ITEMS, [1024, 20])
bought = random.integers(0, ITEMS, [1024, 1])
liked = random.random([1024, 1])
model.fit([history, bought], liked, batch_size=options.batch_size, verbose=2)
