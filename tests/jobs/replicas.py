"""Data-parallel training on two (logical) devices with MirroredStrategy."""

import argparse

import keras
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=4096)
options = parser.parse_args()

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input([256]),
            keras.layers.Dense(1024, activation="relu"),
            keras.layers.Dense(1024, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

random = np.random.default_rng(0)
features = random.normal(size=[8192, 256]).astype("float32")
labels = random.integers(0, 10, [8192])
data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(options.batch_size)
model.fit(data, verbose=2)
