"""What inspection tells of functions and classes that are watched."""

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import func_graph

keras: Any = tf.keras


class Own(keras.layers.Layer):  # type: ignore[misc]
    """A layer whose config Keras makes from the constructor's arguments."""

    def __init__(self, width: int, *, scale: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.width, self.scale = width, scale

    def call(self, x: Any) -> Any:
        """The layer."""
        return x * self.scale


class OwnLoss(keras.losses.Loss):  # type: ignore[misc]
    """A loss of the program's."""

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss."""
        return tf.reduce_mean(y_true - y_pred)


def describe(function: Any) -> None:
    """Prints how it looks from outside."""
    print(function.__qualname__, function.__module__, type(function).__name__)
    for ask in (inspect.signature, inspect.getfullargspec, inspect.getdoc):
        try:
            print("   ", ask(function))
        except (TypeError, ValueError) as error:
            print("   ", type(error).__name__)


CLASSES = (
    keras.layers.Layer,
    keras.layers.Dense,
    keras.Model,
    keras.losses.Loss,
    keras.losses.MeanSquaredError,
    keras.metrics.Metric,
    keras.optimizers.Adam,
    keras.callbacks.TensorBoard,
    tf.errors.ResourceExhaustedError,
    tf.errors.OpError,
    tf.profiler.experimental.Trace,
    dataset_ops.DatasetV2,
    func_graph.FuncGraph,
    context.Context,
    Own,
    OwnLoss,
)
for cls in CLASSES:
    print(cls.__qualname__, cls.__module__, [base.__qualname__ for base in cls.__mro__])
    print("   ", sorted(name for name in dir(cls) if not name.startswith("__")))
    for name in ("__new__", "__init__", "__enter__", "__exit__", "apply_gradients", "set_model"):
        if inspect.isfunction(getattr(cls, name, None)):
            describe(getattr(cls, name))
    try:
        print("   ", inspect.signature(cls))
    except ValueError:
        print("    no signature")
describe(keras.Model.train_on_batch)
describe(keras.Model.fit)
describe(context.Context.remove_function)
print(inspect.getsource(keras.layers.Layer.__init__)[:200])

model = keras.Sequential([keras.Input([4]), Own(3, scale=2.0), keras.layers.Dense(2)])
model.compile(keras.optimizers.SGD(), OwnLoss())
train = copy.copy(model.train_on_batch)
print(type(train).__name__, train.__func__ is type(model).train_on_batch)
print(float(np.sum(train(np.ones([2, 4]), np.ones([2, 2])))) < 100)
print(pickle.loads(pickle.dumps(keras.Model.train_on_batch)) is keras.Model.train_on_batch)
print(pickle.loads(pickle.dumps(tf.profiler.experimental.Trace)))
try:
    print(Own(5, scale=3.0, name="own").get_config())
except NotImplementedError as error:
    print(type(error).__name__)
