"""Forecasts the step that ran out of memory, as evidence of the run that tells of it.

The error is made in the thread that called the function; the frames of TensorFlow's call
are still there, with the function and the tensors that it was given. From them only names,
shapes and serialised definitions are taken.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

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
    if step is None:
        return None
    step = with_element_shapes(step, run.frame)
    step = replace(step, one_buffer=first_values.in_one_buffer(address_of))
    request = _request_of(run.trace)
    budget = TimeBudget(PROCESSOR_LIMIT_S, max(0.0, run.deadline.left_s - _RESERVE_S))
    made = forecast_step(
        step,
        origin="oom",
        budget=budget,
        step_id=int(request.get("step_id", 0)),
        allocator=str(request.get("allocator", "")),
        modules=trace_file.module_names(run.trace) if step.compiled_functions else (),
    )
    return plane.serialized([made])


def _request_of(trace: Path) -> dict[str, Any]:
    """The refused request, from the report beside the trace."""
    for report in trace.parent.glob("*oom_report*.json"):
        request = json.loads(report.read_text()).get("request")
        if isinstance(request, dict):
            return request
    return {}
