"""Reads text from images: convolutions, two LSTMs in both directions, and the loss of CTC."""

import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=32)
options = parser.parse_args()

WIDTH, HEIGHT, LETTERS, CHARACTERS = 160, 40, 5, 20


class CTCLayer(layers.Layer):
    def call(self, labels, logits):
        batch = ops.shape(labels)[0]
        input_lengths = ops.shape(logits)[1] * ops.ones([batch], dtype="int32")
        label_lengths = LETTERS * ops.ones([batch], dtype="int32")
        labels = ops.cast(labels, "int32")
        loss = ops.ctc_loss(labels, logits, label_lengths, input_lengths, mask_index=0)
        self.add_loss(ops.mean(loss))
        return logits


image = layers.Input([WIDTH, HEIGHT, 1], name="image")
label = layers.Input([LETTERS], name="label", dtype="float32")
x = layers.Conv2D(32, 3, activation="relu", padding="same", name="Conv1")(image)
x = layers.MaxPooling2D()(x)
x = layers.Conv2D(64, 3, activation="relu", padding="same", name="Conv2")(x)
x = layers.MaxPooling2D()(x)
x = layers.Reshape([WIDTH // 4, HEIGHT // 4 * 64])(x)
x = layers.Dropout(0.2)(layers.Dense(64, activation="relu")(x))
x = layers.Bidirectional(layers.LSTM(64, return_sequences=True, dropout=0.25))(x)
x = layers.Bidirectional(layers.LSTM(32, return_sequences=True, dropout=0.25))(x)
x = layers.Dense(CHARACTERS + 1)(x)
model = keras.Model([image, label], CTCLayer()(label, x))
model.compile("adam")

random = np.random.default_rng(0)
images = random.uniform(size=[160, WIDTH, HEIGHT, 1]).astype("float32")
labels = random.integers(1, CHARACTERS, [160, LETTERS])
dataset = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .map(lambda image, label: {"image": image, "label": label})
    .batch(options.batch_size)
    .prefetch(tf.data.AUTOTUNE)
)
model.fit(dataset, validation_data=dataset, verbose=2)
