"""An evaluation loop that collects the feature maps of all batches on the device."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--to-numpy", action="store_true")
options = parser.parse_args()

model = keras.Sequential(
    [keras.Input([32, 32, 3]), keras.layers.Conv2D(16, 3, padding="same", activation="relu")]
)
data = tf.data.Dataset.range(2048).map(lambda i: tf.random.stateless_uniform([32, 32, 3], [i, 0]))
collected = []
for images in data.batch(options.batch_size):
    maps = model(images, training=False)
    collected.append(maps.numpy() if options.to_numpy else maps)
print(len(collected), "batches")
