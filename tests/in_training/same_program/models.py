"""Traces of functions, names, saved models, and training, with the Keras that there is."""

import os
import sys
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

keras: Any = tf.keras
keras.utils.set_random_seed(1)
print(getattr(keras, "__version__", "2"))  # tf_keras has none of its own.
traces: list[str] = []


@tf.function  # type: ignore[untyped-decorator]
def function(x: Any) -> Any:
    """Says when it is traced."""
    traces.append(str(x))
    if tf.reduce_sum(x) > 0:
        x = x * 2
    return tf.where(x > 0, x, -x)


for size in (1, 2, 2, 3):
    function(tf.ones([size]))
function.get_concrete_function(tf.TensorSpec([None]))
print(traces, function.experimental_get_tracing_count())
concrete = function.get_concrete_function(tf.TensorSpec([None]))
print([(op.name, op.type) for op in concrete.graph.get_operations()])


class Module(tf.Module):  # type: ignore[misc]
    """Something to save."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable(3.0, name="weight")

    @tf.function(input_signature=[tf.TensorSpec([None])])  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        """The product."""
        return self.weight * x


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Module(), folder)
    print(sorted(os.listdir(folder)))
    print(tf.saved_model.load(folder)(tf.ones([2])).numpy())

model = keras.Sequential(
    [
        keras.layers.Embedding(50, 4),
        keras.layers.LSTM(4),
        keras.layers.Dropout(0.5, seed=1),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse", metrics=["mae"])
inputs, wanted = np.arange(64).reshape(16, 4) % 50, np.ones([16, 1])
history = model.fit(inputs, wanted, batch_size=4, epochs=2, verbose=0, shuffle=False)
print(history.history)
print(model.train_on_batch(inputs, wanted), model.evaluate(inputs, wanted, verbose=0))
print(model.predict(inputs, verbose=0).tolist())
model.summary(print_fn=print)
print([(v.name, v.shape) for v in model.weights], [v.name for v in model.optimizer.variables][:2])
print(model.get_config() == keras.Sequential.from_config(model.get_config()).get_config())
with tempfile.TemporaryDirectory() as folder:
    model.save(os.path.join(folder, "model.keras"))
    again = keras.models.load_model(os.path.join(folder, "model.keras"))
    print(np.allclose(again.predict(inputs, verbose=0), model.predict(inputs, verbose=0)))
    tf.saved_model.save(model, os.path.join(folder, "saved"))
    print(sorted(os.listdir(os.path.join(folder, "saved"))))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(inputs, training=False) ** 2)
print([gradient.shape for gradient in tape.gradient(loss, model.trainable_variables)])
for batch in tf.data.Dataset.range(10).shuffle(10, seed=1).batch(4):
    print(batch.numpy())
dataset = tf.data.Dataset.from_tensor_slices(np.arange(6)).map(lambda x: x * 2).prefetch(1)
print(dataset, dataset.element_spec, list(dataset.as_numpy_iterator()))
with tf.profiler.experimental.Trace("step", step_num=3, _r=1):
    print(tf.profiler.experimental.Trace)
sys.stdout.flush()
