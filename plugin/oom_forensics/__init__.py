"""OOM Forensics for TensorFlow: why a job ran out of memory.

    import oom_forensics

    with oom_forensics.open("logdir") as trace:
        print(trace.oom_window().ooms[0].verdict.sentence)

    oom_forensics.configure(logdir="logdir")    # the recorder in this process
    oom_forensics.snapshot()
    oom_forensics.memory_stats()
    oom_forensics.last_report()

This package holds the TensorBoard plugin, the `oom-forensics` command and the
Python interface. What is measured is measured by the collector (a library that
TensorFlow loads by itself); what is computed is computed by the converter (a
program in this package). Python passes their answers on and never recomputes.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oom_forensics.core.errors import OomForensicsError
    from oom_forensics.in_training.recorder import (
        RecorderError,
        configure,
        last_report,
        memory_stats,
        record,
        snapshot,
    )
    from oom_forensics.in_training.step_forecast.ahead import AheadForecast, ForecastError
    from oom_forensics.in_training.step_forecast.keras_callback import ForecastCallback
    from oom_forensics.remote.addresses import RemoteError
    from oom_forensics.trace import Trace, TraceError

__version__ = "0.1.0"
# Without `open`: `from oom_forensics import *` shadows nothing of Python's.
__all__ = [
    "ForecastCallback",
    "ForecastError",
    "OomForensicsError",
    "RecorderError",
    "RemoteError",
    "Trace",
    "TraceError",
    "configure",
    "forecast",
    "last_report",
    "memory_stats",
    "record",
    "snapshot",
]

# Imported when they are asked for: TensorBoard imports this package at its start, and the
# command for each question; Keras is imported only by who asks for its callback.
_RECORDER = "oom_forensics.in_training.recorder"
_MODULE_OF = {
    "ForecastCallback": "oom_forensics.in_training.step_forecast.keras_callback",
    "ForecastError": "oom_forensics.in_training.step_forecast.ahead",
    "OomForensicsError": "oom_forensics.core.errors",
    "RecorderError": _RECORDER,
    "RemoteError": "oom_forensics.remote.addresses",
    "Trace": "oom_forensics.trace",
    "TraceError": "oom_forensics.trace",
    "configure": _RECORDER,
    "last_report": _RECORDER,
    "memory_stats": _RECORDER,
    "record": _RECORDER,
    "snapshot": _RECORDER,
}


def open(path: str | os.PathLike[str], run: str = "") -> Trace:  # noqa: A001, as in `PIL.Image.open`
    """Opens an .xplane.pb file, a run's folder, or a run (the newest) of a logdir.

    Raises:
      oom_forensics.trace.TraceError: it cannot be opened; one sentence says why.
    """
    from oom_forensics.trace import Trace

    return Trace(path, run)


def forecast(
    model_or_function: Any,
    *specs: Any,
    batch_size: int | Sequence[int] | None = None,
    limit_bytes: int = 0,
) -> AheadForecast:
    """What a step of a Keras model or `tf.function` will need, without running it.

    See `oom_forensics.in_training.step_forecast.ahead.forecast` and docs/forecast.md.
    """
    from oom_forensics.in_training.step_forecast import ahead

    return ahead.forecast(model_or_function, *specs, batch_size=batch_size, limit_bytes=limit_bytes)


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*__all__, "open", "__version__", "__doc__"})
