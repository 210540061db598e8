"""A step to forecast, traced but not run: of a function, or the train step of a Keras model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oom_forensics.in_training.step_forecast.element_shapes import filled_specs


@dataclass(frozen=True)
class TracedStep:
    """A function and what it is called with.

    Attributes:
      concrete: Its ConcreteFunction for the specs.
      function: The `tf.function` itself; None where only the concrete one is known.
      specs: Its arguments.
    """

    concrete: Any
    function: Any = None
    specs: tuple[Any, ...] = ()

    def specs_of(self, batch: int | None) -> tuple[Any, ...]:
        """The arguments with open first dimensions filled in."""
        return tuple(filled_specs(self.specs, batch))


def traced_step(model_or_function: Any, specs: Sequence[Any]) -> TracedStep:
    """Traces a Keras model's train step, or a function, with the specs."""
    import tensorflow as tf

    given = tuple(_spec_of(each) for each in specs)
    if hasattr(model_or_function, "captured_inputs"):
        return TracedStep(model_or_function)
    if hasattr(model_or_function, "train_step") and hasattr(model_or_function, "optimizer"):
        model = model_or_function
        given = (given or _data_of(model),)
        function = _train_step(model, given[0])
    elif hasattr(model_or_function, "get_concrete_function"):
        function = model_or_function
    else:
        function = tf.function(model_or_function)
    return TracedStep(function.get_concrete_function(*given), function, given)


def _train_step(model: Any, data: tuple[Any, ...]) -> Any:
    import tensorflow as tf

    if not model.built:
        model.build(tf.nest.map_structure(lambda spec: spec.shape, data[0]))
    # Its slots would else be made within the trace, where nobody keeps them.
    if not getattr(model.optimizer, "built", True):
        model.optimizer.build(model.trainable_variables)
    compiled = getattr(model, "jit_compile", False) is True or None
    return tf.function(model.train_step, jit_compile=compiled)


def _data_of(model: Any) -> tuple[Any, Any]:
    """Inputs and targets as the model declares them, the batch open."""
    import tensorflow as tf

    inputs = tf.nest.map_structure(_spec_of, model.inputs)
    outputs = tf.nest.map_structure(_spec_of, model.outputs)
    if len(inputs) == 1:
        (inputs,) = inputs
    if len(outputs) == 1:
        (outputs,) = outputs
        loss = model.loss if isinstance(model.loss, str) else type(model.loss).__name__
        if "sparse" in loss.lower():
            # Classes by number, not as a vector.
            outputs = tf.TensorSpec(outputs.shape[:-1], tf.int32)
    return inputs, outputs


def _spec_of(value: Any) -> Any:
    import tensorflow as tf

    if isinstance(value, tf.TensorSpec):
        return value
    if isinstance(value, (tuple, list, dict)):
        return tf.nest.map_structure(_spec_of, value)
    return tf.TensorSpec(value.shape, tf.as_dtype(value.dtype))
