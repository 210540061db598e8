"""A training loop whose input pipeline shuffles decoded images in a large buffer."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--shuffle", type=int, default=4096)
parser.add_argument("--shuffle-first", action="store_true")
options = parser.parse_args()


def decode(seed):
    image = tf.random.stateless_uniform([64, 64, 3], [seed, 0])
    return image, tf.cast(seed % 10, tf.int32)


data = tf.data.Dataset.range(6144)
if options.shuffle_first:
    data = data.shuffle(options.shuffle).map(decode)
else:
    data = data.map(decode).shuffle(options.shuffle)
data = data.batch(options.batch_size, drop_remainder=True)
model = keras.Sequential(
    [
        keras.Input([64, 64, 3]),
        keras.layers.AveragePooling2D(8),
        keras.layers.Flatten(),
        keras.layers.Dense(10),
    ]
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, verbose=2)
