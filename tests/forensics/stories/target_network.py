"""Deep Q-learning: an online network that is trained, and a target that follows it."""

import keras
import tensorflow as tf


def network():
    return keras.Sequential(
        [
            keras.Input([64]),
            keras.layers.Dense(2048, activation="relu"),
            keras.layers.Dense(2048, activation="relu"),
            keras.layers.Dense(4),
        ]
    )


online, target = network(), network()
optimizer = keras.optimizers.Adam()
optimizer.build(online.trainable_variables)


@tf.function
def learn(state, following):
    goal = tf.reduce_max(target(following), axis=1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.reduce_max(online(state), axis=1) - goal))
    variables = online.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


for _ in range(50):
    learn(tf.random.normal([256, 64]), tf.random.normal([256, 64]))
    for mine, its in zip(target.variables, online.variables, strict=True):
        mine.assign(its)
