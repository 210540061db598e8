"""Calls a trained model on the whole test set at once."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=2000)
options = parser.parse_args()

model = keras.Sequential(
    [
        keras.Input([32, 32, 3]),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
images = np.random.default_rng(0).normal(size=[2000, 32, 32, 3]).astype("float32")
scores = model.predict(images, batch_size=options.batch_size, verbose=0)
print(scores.shape)
