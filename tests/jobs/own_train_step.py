"""A training loop of one's own: a tf.function with a tape, batches from tf.data."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8192)
options = parser.parse_args()

model = keras.Sequential(
    [
        keras.Input([128]),
        keras.layers.Dense(512, activation="gelu"),
        keras.layers.Dense(512, activation="gelu"),
        keras.layers.Dense(512, activation="gelu"),
        keras.layers.Dense(10),
    ]
)
optimizer = keras.optimizers.Adam()
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


features = tf.random.normal([16384, 128])
labels = tf.random.uniform([16384], 0, 10, tf.int32)
data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(options.batch_size)
for x, y in data:
    loss = train_step(x, y)
print("loss", float(loss))
