"""A loop of the program's own: layers in CamelCase, two replicas, an optimizer of its own name
inside a LossScaleOptimizer. Argument: the logdir."""

import sys

import keras
import oom_forensics
import tensorflow as tf


class Encoder(keras.layers.Layer):  # type: ignore[misc]
    """Two layers, and an op of its own."""

    def __init__(self, **names: str) -> None:
        super().__init__(**names)
        self.first = keras.layers.Dense(256, activation="relu", name="FirstProjection")
        self.second = keras.layers.Dense(64, activation="gelu", name="SecondProjection")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Applies them."""
        return tf.nn.relu(self.second(self.first(x)))


(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    layers = [keras.Input((128,)), Encoder(name="TextEncoder"), keras.layers.Dense(1, name="Head")]
    model = keras.Sequential(layers, name="Net")
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(name="my_rule"))
    optimizer.build(model.trainable_variables)


def step(x: tf.Tensor) -> None:
    """Trains one replica."""
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_mean(model(x, training=True) ** 2))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


train = tf.function(lambda x: strategy.run(step, args=(x,)))
images = tf.data.Dataset.from_tensor_slices(tf.random.normal([2048, 128])).batch(512)
with oom_forensics.record(sys.argv[1]):
    for batch in strategy.experimental_distribute_dataset(images):
        train(batch)
