"""A small U-Net that labels every pixel."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=16)
options = parser.parse_args()


def block(x, filters):
    for _ in range(2):
        x = keras.layers.Conv2D(filters, 3, padding="same")(x)
        x = keras.layers.ReLU()(keras.layers.BatchNormalization()(x))
    return x


inputs = keras.Input([96, 96, 3])
high = block(inputs, 8)
middle = block(keras.layers.MaxPooling2D()(high), 16)
low = block(keras.layers.MaxPooling2D()(middle), 32)
up = keras.layers.Concatenate()([keras.layers.UpSampling2D()(low), middle])
up = keras.layers.Concatenate()([keras.layers.UpSampling2D()(block(up, 16)), high])
outputs = keras.layers.Conv2D(4, 1)(block(up, 8))
model = keras.Model(inputs, outputs)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

random = np.random.default_rng(0)
images = random.random([32, 96, 96, 3]).astype("float32")
masks = random.integers(0, 4, [32, 96, 96])
model.fit(images, masks, batch_size=options.batch_size, verbose=2)
