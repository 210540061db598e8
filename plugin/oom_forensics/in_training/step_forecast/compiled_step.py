"""A function that XLA compiles whole, before it was called.

It is compiled, as its first call would be, and not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oom_forensics.in_training.step_forecast.compiled_blocks import blocks_of, requests_of
from oom_forensics.in_training.step_forecast.forecaster import held_bytes_of, likely_batch
from oom_forensics.in_training.step_forecast.plane import Forecast
from oom_forensics.in_training.step_forecast.step_function import StepFunction


def forecast_compiled(
    function: Any, specs: Sequence[Any], step: StepFunction, allocator: str
) -> Forecast:
    """Returns the forecast of a `tf.function(jit_compile=True)` called with the specs."""
    import tensorflow as tf
    from tensorflow.compiler.xla.service import hlo_pb2

    def flat_step(*tensors: Any) -> Any:
        return function.python_function(*tf.nest.pack_sequence_as(specs, tensors))

    # TensorFlow takes specs for this only side by side, and of a function of that very shape.
    compiled = tf.function(flat_step, jit_compile=True)
    tell = compiled.experimental_get_compiler_ir(*tf.nest.flatten(specs))
    module = hlo_pb2.HloProto.FromString(tell(stage="optimized_hlo_proto_serialized"))
    orders = requests_of(blocks_of(module, step.batch or likely_batch(step)))
    return Forecast(
        "ahead",
        step.name,
        held_bytes_of(step),
        orders,
        step.batch or likely_batch(step),
        op_count=len(module.hlo_module.computations),
        allocator=allocator,
    )
