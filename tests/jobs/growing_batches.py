"""Documents of growing length, padded to the longest of each batch."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=64)
options = parser.parse_args()

layer = keras.layers.LSTM(64, return_sequences=True)
head = keras.layers.Dense(1)
optimizer = keras.optimizers.Adam()


@tf.function(reduce_retracing=True)
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(head(layer(x))))
    variables = layer.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


layer.build([None, None, 16])
head.build([None, None, 64])
optimizer.build(layer.trainable_variables + head.trainable_variables)
for length in (50, 80, 120, 200, 320):
    loss = train_step(tf.random.normal([options.batch_size, length, 16]))
print("loss", float(loss))
