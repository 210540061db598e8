"""A callback keeps what the model makes of some images after each epoch, to plot it later."""

import argparse

import keras
import numpy as np
from keras import layers

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--numpy", action="store_true", help="keep copies on the host")
options = parser.parse_args()


class Snapshots(keras.callbacks.Callback):
    def __init__(self, images):
        super().__init__()
        self.images = images
        self.outputs = []

    def on_epoch_end(self, epoch, logs=None):  # noqa: ARG002
        output = self.model(self.images, training=False)
        self.outputs.append(output.numpy() if options.numpy else output)


model = keras.Sequential(
    [
        keras.Input([32, 32, 1]),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.Conv2D(3, 3, padding="same", activation="sigmoid"),
    ]
)
model.compile("adam", "mse")
images = np.random.default_rng(0).uniform(size=[512, 32, 32, 1]).astype("float32")
callbacks = [Snapshots(images[:256])]
colours = np.repeat(images, 3, axis=-1)
model.fit(images, colours, batch_size=options.batch_size, epochs=30, verbose=2, callbacks=callbacks)
