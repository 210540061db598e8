"""A convolutional autoencoder of images."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
options = parser.parse_args()

model = keras.Sequential([keras.Input([64, 64, 3])])
for filters in (16, 32):
    model.add(keras.layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu"))
for filters in (32, 16):
    model.add(keras.layers.Conv2DTranspose(filters, 3, strides=2, padding="same"))
    model.add(keras.layers.LeakyReLU())
model.add(keras.layers.Conv2D(3, 3, padding="same", activation="sigmoid"))
model.compile("adam", "mse")

images = np.random.default_rng(0).random([128, 64, 64, 3]).astype("float32")
model.fit(images, images, batch_size=options.batch_size, verbose=2)
