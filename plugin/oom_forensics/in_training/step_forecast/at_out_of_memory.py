"""Forecasts the step that ran out of memory, as evidence of the run that tells of it.

The thread that called the function waits inside of TensorFlow; its frames hold the function
and the tensors that it was given. From them only names, shapes and serialized definitions
are taken.
"""

from __future__ import annotations

from dataclasses import replace

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import providers, trace_file
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.evidence.written_run import WrittenRun
from oom_forensics.in_training.keepers.live_tensors import AddressOf
from oom_forensics.in_training.step_forecast import first_values, plane, step_function
from oom_forensics.in_training.step_forecast.element_shapes import with_element_shapes
from oom_forensics.in_training.step_forecast.forecaster import forecast_step
from oom_forensics.in_training.step_forecast.time_budget import TimeBudget

# Of the processor, and in all.
PROCESSOR_LIMIT_S = 5.0
LIMIT_S = 30.0
# Of that, for writing the plane.
_RESERVE_S = 1.0


def register(library: CollectorLibrary) -> None:
    """Has the first out-of-memories of this process forecast, unless a setting says no."""

    first_values.watch()

    def provider(run: WrittenRun) -> bytes | None:
        if not EvidenceSettings.now(library).forecast:
            return None
        return forecast_of(run, library.tensor_address)

    providers.register(provider, limit_s=LIMIT_S, origins=("oom",))


def forecast_of(run: WrittenRun, address_of: AddressOf) -> bytes | None:
    """Returns the plane with the forecast of the step that was running; None: it was none."""
    step = step_function.waiting_call(run.frame)
    if step is None or run.request is None:
        return None
    step = with_element_shapes(step, run.frame)
    step = replace(step, one_buffer=first_values.in_one_buffer(address_of))
    budget = TimeBudget(PROCESSOR_LIMIT_S, max(0.0, run.deadline.left_s - _RESERVE_S))
    made = forecast_step(
        step,
        origin="oom",
        budget=budget,
        step_id=run.request.step_id,
        allocator=run.request.allocator,
        modules=trace_file.module_names(run.trace) if step.compiled_functions else (),
    )
    return plane.serialized([made])
