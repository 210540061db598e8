"""A batch of 1024 through layers that are 1024 wide, in a loop of one's own."""

import keras
import numpy as np
import tensorflow as tf

data = np.random.default_rng(0).normal(size=[4096, 1024]).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((data, data[:, :1])).batch(1024).repeat()
model = keras.Sequential([keras.Input([1024])])
for _ in range(6):
    model.add(keras.layers.Dense(1024, activation="gelu"))
model.add(keras.layers.Dense(1))
optimizer = keras.optimizers.SGD(0.01)

for x, y in batches.take(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
