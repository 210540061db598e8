"""One out-of-memory, one run in the list: the flight recorder's, or the recording's.

An out-of-memory during a recording (a session of TensorFlow's profiler, `record()`) leaves
two runs: the flight recorder's, at once, and the recording's, if it comes to its end. Then
the first one is marked, and not listed beside the second (`oom_forensics.logdir.runs`). Who opens
it by its path, as the error's text says, still can.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from oom_forensics.in_training.evidence import trace_file
from oom_forensics.in_training.evidence.written_run import WrittenRun
from oom_forensics.logdir.runs import SHOWN_IN_RUN

# Folders of the flight recorder's runs, and when each was written.
_written: list[tuple[float, Path]] = []


def note(folder: Path) -> None:
    """Remembers an out-of-memory's run for a recording that may be under way."""
    _written.append((time.monotonic(), folder))


def mark(recording: WrittenRun) -> None:
    """Marks the runs of the out-of-memories that a recording shows as well."""
    if recording.began_s is None:
        return
    folder = recording.trace.parent
    during = [each for at_s, each in _written if at_s >= recording.began_s and each != folder]
    if not during or not _shows_a_refusal(recording.trace):
        return
    for each in during:
        with contextlib.suppress(OSError):
            (each / SHOWN_IN_RUN).write_text(os.path.relpath(folder, each) + "\n")


def _shows_a_refusal(trace: Path) -> bool:
    return any(
        site.name == "failed"
        for plane in trace_file.plane_headers(trace)
        for site in plane.event_metadata.values()
    )
