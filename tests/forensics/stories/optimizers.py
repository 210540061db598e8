"""One model, a new Adam for each learning rate, and each kept beside its loss."""

import keras
import tensorflow as tf

model = keras.Sequential(
    [keras.Input([512]), keras.layers.Dense(2048, activation="relu"), keras.layers.Dense(512)]
)
weights = model.get_weights()
results = {}
for rate in (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00003):
    model.set_weights(weights)
    optimizer = keras.optimizers.Adam(rate)
    for _ in range(4):
        x = tf.random.normal([64, 512])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - x))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    results[rate] = (float(loss), optimizer)
