"""Makes the forecasts that a trace has not got yet, in a process of its own.

    python -m oom_forensics.in_training.step_forecast TRACE

`oom_forensics.logdir.first_reading` starts it.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

from oom_forensics.in_training.evidence import trace_file
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.step_forecast import plane, recorded
from oom_forensics.in_training.step_forecast.forecaster import forecast_step

# For each step. Other jobs may use the processors meanwhile.
_LIMIT_S = 20.0
_BUSY_FACTOR = 15


def main(trace: Path) -> None:
    """Adds the forecasts to a trace, which one process at a time does."""
    with trace.open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        # By its name again: who held the lock has put a longer file in its place.
        steps = recorded.steps_in(trace)
        _begin_again_in({k: v for each in steps for k, v in each.environment.items()})
        made = b"".join(plane.serialized([_forecast(trace, each)]) for each in steps)
        if made:
            trace_file.append_planes(trace, made)


def _begin_again_in(environment: dict[str, str]) -> None:
    """Begins this program again if the variables are others: TensorFlow, with which the trace was
    read, has looked at them when it was imported."""
    if any(os.environ.get(name) != value for name, value in environment.items()):
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **environment})


def _forecast(trace: Path, of: recorded.RecordedStep) -> plane.Forecast:
    return forecast_step(
        of.step,
        origin="oom",
        deadline=Deadline(_LIMIT_S, busy_factor=_BUSY_FACTOR),
        step_id=of.step_id,
        allocator=of.allocator,
        modules=trace_file.module_names(trace) if of.step.compiled_functions else (),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
