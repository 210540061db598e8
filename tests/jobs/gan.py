"""A GAN: two networks, two optimizers, one train step."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=256)
options = parser.parse_args()

maker = keras.Sequential(
    [
        keras.Input([32]),
        keras.layers.Dense(8 * 8 * 32, activation="relu"),
        keras.layers.Reshape([8, 8, 32]),
        keras.layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ]
)
critic = keras.Sequential(
    [
        keras.Input([32, 32, 1]),
        keras.layers.Conv2D(32, 4, strides=2, padding="same"),
        keras.layers.LeakyReLU(),
        keras.layers.Conv2D(64, 4, strides=2, padding="same"),
        keras.layers.LeakyReLU(),
        keras.layers.Flatten(),
        keras.layers.Dense(1),
    ]
)
maker_optimizer = keras.optimizers.Adam(1e-4)
critic_optimizer = keras.optimizers.Adam(1e-4)
loss_of = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real):
    noise = tf.random.normal([options.batch_size, 32])
    with tf.GradientTape() as maker_tape, tf.GradientTape() as critic_tape:
        fake = maker(noise, training=True)
        said_real = critic(real, training=True)
        said_fake = critic(fake, training=True)
        maker_loss = loss_of(tf.ones_like(said_fake), said_fake)
        critic_loss = loss_of(tf.ones_like(said_real), said_real) + loss_of(
            tf.zeros_like(said_fake), said_fake
        )
    gradients = maker_tape.gradient(maker_loss, maker.trainable_variables)
    maker_optimizer.apply_gradients(zip(gradients, maker.trainable_variables))
    gradients = critic_tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
    return maker_loss


for _ in range(3):
    loss = train_step(tf.random.normal([options.batch_size, 32, 32, 1]))
print("loss", float(loss))
