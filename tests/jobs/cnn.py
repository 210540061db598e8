"""A convolutional classifier of images, with batch normalisation."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=128)
options = parser.parse_args()

model = keras.Sequential([keras.Input([32, 32, 3])])
for filters in (16, 32, 64):
    model.add(keras.layers.Conv2D(filters, 3, padding="same"))
    model.add(keras.layers.BatchNormalization())
    model.add(keras.layers.ReLU())
    model.add(keras.layers.MaxPooling2D())
model.add(keras.layers.GlobalAveragePooling2D())
model.add(keras.layers.Dense(10))
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

random = np.random.default_rng(0)
images = random.normal(size=[256, 32, 32, 3]).astype("float32")
labels = random.integers(0, 10, [256])
model.fit(images, labels, batch_size=options.batch_size, verbose=2)
