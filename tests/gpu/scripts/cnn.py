"""A convolutional classifier that is trained with batches that are too large for the device."""

import argparse

import keras
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8192)
parser.add_argument("--mirrored", action="store_true", help="on all GPUs")
parser.add_argument("--mixed", action="store_true", help="in mixed precision")
parser.add_argument("--jit", default=False, help="jit_compile: auto, or nothing")
options = parser.parse_args()

if options.mixed:
    keras.mixed_precision.set_global_policy("mixed_float16")
strategy = tf.distribute.MirroredStrategy() if options.mirrored else tf.distribute.get_strategy()
with strategy.scope():
    model = keras.Sequential([keras.Input([32, 32, 3])])
    for filters in (32, 64):
        model.add(keras.layers.Conv2D(filters, 3, padding="same"))
        model.add(keras.layers.BatchNormalization())
        model.add(keras.layers.ReLU())
    model.add(keras.layers.GlobalAveragePooling2D())
    model.add(keras.layers.Dense(10, dtype="float32"))
    model.compile(
        "adam",
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=options.jit,
    )

images = np.zeros([3 * options.batch_size, 32, 32, 3], "float32")
labels = np.zeros([3 * options.batch_size], "int64")
model.fit(images, labels, batch_size=options.batch_size, verbose=2)
