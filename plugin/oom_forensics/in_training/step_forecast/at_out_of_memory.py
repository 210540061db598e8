"""Notes the step that ran out of memory, as evidence of the run: the forecast is made of it later.

The thread that called the function waits inside of TensorFlow; its frames hold the function
and the tensors that it was given. From them only names, shapes and serialized definitions
are taken.
"""

from __future__ import annotations

from dataclasses import replace

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import providers
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.evidence.written_run import Request, WrittenRun
from oom_forensics.in_training.step_forecast import first_values, recorded, step_function
from oom_forensics.in_training.step_forecast.element_shapes import with_element_shapes
from oom_forensics.in_training.step_forecast.pools import serves_steps

_LIMIT_S = 4.0


def register(library: CollectorLibrary) -> None:
    """Has the steps of this process's out-of-memories noted, unless a setting says no."""

    first_values.watch()

    def provider(run: WrittenRun) -> bytes | None:
        if not EvidenceSettings.now(library).forecast:
            return None
        if run.request is None or not serves_steps(run.request.allocator, library.memory_stats()):
            return None
        return _step_of(run, run.request, library)

    providers.register(provider, limit_s=_LIMIT_S, origins=("oom",))


def _step_of(run: WrittenRun, request: Request, library: CollectorLibrary) -> bytes | None:
    """Returns the plane of the step that was running; None: it was none."""
    step = step_function.waiting_call(run.frame)
    if step is None:
        return None
    step = with_element_shapes(step, run.frame)
    step = replace(step, one_buffer=first_values.in_one_buffer(library))
    return recorded.serialized(recorded.of_this_process(step, request.step_id, request.allocator))
