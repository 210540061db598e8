"""A loop that turns the whole NumPy data set into one tensor."""

import argparse

import keras
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--from-host", action="store_true", help="take batches from NumPy")
options = parser.parse_args()

images = np.random.default_rng(0).random([8192, 64, 64, 1]).astype("float32")
labels = np.arange(8192) % 10
model = keras.Sequential(
    [
        keras.Input([64, 64, 1]),
        keras.layers.AveragePooling2D(4),
        keras.layers.Flatten(),
        keras.layers.Dense(10),
    ]
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

if options.from_host:

    def batches():
        for begin in range(0, len(images), options.batch_size):
            end = begin + options.batch_size
            yield images[begin:end], labels[begin:end]

    shapes = (tf.TensorSpec([None, 64, 64, 1]), tf.TensorSpec([None], tf.int64))
    data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
else:
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(options.batch_size)
model.fit(data, verbose=2)
