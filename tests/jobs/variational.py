"""A variational autoencoder as a subclassed model with a train_step of its own."""

import argparse

import keras
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=4096)
options = parser.parse_args()


class Variational(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.layers.Dense(512, activation="relu")
        self.mean = keras.layers.Dense(16)
        self.log_variance = keras.layers.Dense(16)
        self.decoder = keras.layers.Dense(512, activation="relu")
        self.pixels = keras.layers.Dense(784)

    def call(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
        return self.pixels(self.decoder(code)), mean, log_variance

    def train_step(self, data):
        with tf.GradientTape() as tape:
            logits, mean, log_variance = self(data, training=True)
            seen = tf.nn.sigmoid_cross_entropy_with_logits(labels=data, logits=logits)
            spread = 1 + log_variance - tf.square(mean) - tf.exp(log_variance)
            loss = tf.reduce_mean(tf.reduce_sum(seen, 1) - 0.5 * tf.reduce_sum(spread, 1))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


model = Variational()
model.compile("adam")
digits = tf.random.uniform([8192, 784])
model.fit(tf.data.Dataset.from_tensor_slices(digits).batch(options.batch_size), verbose=2)
