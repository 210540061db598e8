"""What a function needs that XLA compiles whole: XLA's own buffer assignment.

XLA lays out all memory of a compiled function before it runs: one block for temporaries, one
for each result. It is compiled for that, as its first call would be, and not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oom_forensics.in_training.step_forecast.forecaster import held_bytes_of
from oom_forensics.in_training.step_forecast.memory import Requests, Site
from oom_forensics.in_training.step_forecast.plane import Forecast
from oom_forensics.in_training.step_forecast.step_function import StepFunction

_ORDER = "xla"


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
    sites: list[Site] = []
    for block in module.buffer_assignment.buffer_allocations:
        # Parameters are there already; constants and a thread's own are no requests.
        if block.is_entry_computation_parameter or block.is_constant or block.is_thread_local:
            continue
        if block.size > 0:
            kind = "output" if block.maybe_live_out else "temp"
            sites.append(
                Site(f"{module.hlo_module.name}/{kind} {block.index}", 0, None, block.size)
            )
    count = len(sites)
    events = [*range(count), *(-1 - number for number in range(count))]
    return Forecast(
        "ahead",
        step.name,
        held_bytes_of(step),
        [Requests(_ORDER, sites, events)],
        step.batch,
        op_count=len(module.hlo_module.computations),
        allocator=allocator,
    )
