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

import os
from typing import TYPE_CHECKING

from oom_forensics.in_training.recorder import (
    RecorderError,
    configure,
    last_report,
    memory_stats,
    record,
    snapshot,
)

if TYPE_CHECKING:
    from oom_forensics.trace import Trace

__version__ = "0.1.0"
__all__ = [
    "RecorderError",
    "configure",
    "last_report",
    "memory_stats",
    "open",
    "record",
    "snapshot",
]


def open(path: str | os.PathLike[str], run: str = "") -> Trace:  # noqa: A001, as in `PIL.Image.open`
    """Opens an .xplane.pb file, a run's folder, or a run (the newest) of a logdir.

    Raises:
      oom_forensics.trace.TraceError: it cannot be opened; one sentence says why.
    """
    # Imported here: TensorBoard imports this package at its start.
    from oom_forensics.trace import Trace

    return Trace(path, run)
