"""Fills a bank of features once, in shuffled order, then trains against it."""

import keras
import tensorflow as tf

encode = tf.function(keras.layers.Dense(512, activation="relu"))
order = tf.data.Dataset.range(100).shuffle(100)
bank = [encode(tf.random.normal([256, 64])) for _ in order]

model = keras.Sequential([keras.layers.Dense(2048, activation="relu"), keras.layers.Dense(512)])
optimizer = keras.optimizers.Adam()


@tf.function
def train_step(x, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - target))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


model.build([None, 64])
optimizer.build(model.trainable_variables)
for _ in range(20):
    wide = tf.concat(bank[:8], axis=0)
    train_step(tf.random.normal([2048, 64]), wide)
