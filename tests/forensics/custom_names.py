"""A loop of the program's own: layers in CamelCase, two replicas, an optimizer of its own name
inside a LossScaleOptimizer; then an optimizer of the program's own class. Argument: the logdir."""

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


class Damped(keras.optimizers.Optimizer):  # type: ignore[misc]
    """Slows down what has moved already; nothing in its name tells that it is an optimizer."""

    def build(self, variables: list[keras.Variable]) -> None:
        """Makes a slot for each variable."""
        super().build(variables)
        self.moved = [self.add_variable_from_reference(v, name="moved") for v in variables]

    def update_step(self, gradient: tf.Tensor, variable: keras.Variable, rate: tf.Tensor) -> None:
        """Changes one variable."""
        moved = self.moved[self._get_variable_index(variable)]
        moved.assign(0.9 * moved + tf.abs(gradient))
        variable.assign_sub(rate * gradient / (1.0 + moved))


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

    alone = keras.Sequential([keras.Input((128,)), keras.layers.Dense(256), keras.layers.Dense(1)])
    alone.compile(Damped(0.01), "mse", jit_compile=False)
    alone.fit(tf.random.normal([512, 128]), tf.random.normal([512, 1]), batch_size=256, verbose=0)
