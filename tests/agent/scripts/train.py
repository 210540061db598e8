"""Trains a network on a batch that is too large for its pool."""

import keras
import numpy as np

images = np.zeros((4096, 64), np.float32)
labels = np.zeros((4096,), np.int32)
model = keras.Sequential(
    [
        keras.Input((64,)),
        keras.layers.Dense(4096, activation="relu"),
        keras.layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, labels, batch_size=4096, epochs=1, verbose=0)
print("trained to the end")
