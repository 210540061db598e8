"""A search over models of which only the score is kept."""

import keras
import numpy as np

random = np.random.default_rng(0)
x = random.normal(size=[256, 256]).astype("float32")
y = random.normal(size=[256, 1]).astype("float32")


def score(rate):
    model = keras.Sequential(
        [
            keras.Input([256]),
            keras.layers.Dense(2048, activation="relu"),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(rate), "mse")
    return model.fit(x, y, batch_size=64, epochs=1, verbose=0).history["loss"][-1]


scores = {}
for number in range(14):
    scores[number] = score(0.1 / (number + 1))
