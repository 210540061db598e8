"""A function that XLA compiles whole, before it was called.

It is compiled, as its first call would be, and not run.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from oom_forensics.in_training.evidence.trace_file import ModuleName
from oom_forensics.in_training.step_forecast.compiled_modules import whole_step
from oom_forensics.in_training.step_forecast.forecaster import held_bytes_of, likely_batch
from oom_forensics.in_training.step_forecast.plane import Forecast
from oom_forensics.in_training.step_forecast.step_function import StepFunction

# Of modules that no program runs.
_PROGRAM_IDS = itertools.count(1)


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
    content = tell(stage="optimized_hlo_proto_serialized")
    name = hlo_pb2.HloProto.FromString(content).hlo_module.name
    module = ModuleName(name, next(_PROGRAM_IDS))
    return Forecast(
        "ahead",
        step.name,
        held_bytes_of(step),
        whole_step(module),
        step.batch or likely_batch(step),
        allocator=allocator,
        modules={module: content},
    )
