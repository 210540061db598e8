"""Trains on images that the input pipeline caches once they are decoded."""

import argparse
import tempfile

import keras
import tensorflow as tf
from keras import layers

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--in-file", action="store_true", help="cache in a file")
parser.add_argument("--batch-size", type=int, default=16)
options = parser.parse_args()


def load(number):
    image = tf.random.stateless_uniform([96, 96, 3], [number, 0])
    return image, tf.cast(number % 10, tf.int32)


dataset = tf.data.Dataset.range(1200).map(load, num_parallel_calls=tf.data.AUTOTUNE)
folder = tempfile.TemporaryDirectory()
dataset = dataset.cache(f"{folder.name}/images" if options.in_file else "")
dataset = dataset.shuffle(64).batch(options.batch_size).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential(
    [
        keras.Input([96, 96, 3]),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=2, verbose=2)
