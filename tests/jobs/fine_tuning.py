"""Fine-tuning: a frozen base of many layers, a new head."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
options = parser.parse_args()

base = keras.Sequential([keras.Input([64, 64, 3])], name="base")
for filters in (16, 24, 32, 48):
    base.add(keras.layers.SeparableConv2D(filters, 3, padding="same", activation="relu"))
    base.add(keras.layers.BatchNormalization())
    base.add(keras.layers.MaxPooling2D())
base.trainable = False
inputs = keras.Input([64, 64, 3])
x = keras.layers.GlobalAveragePooling2D()(base(inputs, training=False))
model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dropout(0.3)(x)))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

random = np.random.default_rng(0)
images = random.random([128, 64, 64, 3]).astype("float32")
labels = random.integers(0, 2, [128])
model.fit(images, labels, batch_size=options.batch_size, verbose=2)
