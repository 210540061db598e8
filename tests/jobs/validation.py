"""Training fits, but validation runs with a much larger batch."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=4000, help="of the validation")
options = parser.parse_args()

model = keras.Sequential(
    [
        keras.Input([24, 24, 3]),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(10),
    ]
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
random = np.random.default_rng(0)
images = random.random([4000, 24, 24, 3]).astype("float32")
labels = random.integers(0, 10, [4000])
model.fit(
    images[:128],
    labels[:128],
    batch_size=32,
    validation_data=(images, labels),
    validation_batch_size=options.batch_size,
    verbose=2,
)
