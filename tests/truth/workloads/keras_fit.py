"""A Keras model that trains for a few steps and dies at a batch too large."""

import sys

import keras
import numpy as np
import tensorflow as tf

logdir = sys.argv[1]
keras.utils.set_random_seed(1)
model = keras.Sequential(
    [
        keras.layers.Input([32, 32, 3]),
        keras.layers.Conv2D(32, 3, activation="relu", name="convolution"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu", name="hidden"),
        keras.layers.Dense(10, name="logits"),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images = np.random.default_rng(1).normal(size=[2048, 32, 32, 3]).astype(np.float32)
labels = np.arange(len(images)) % 10
with tf.profiler.experimental.Profile(logdir):
    model.fit(images[:320], labels[:320], batch_size=32, verbose=0)
    model.fit(images, labels, batch_size=2048, verbose=0)
raise SystemExit("this must run out of memory")
