"""What was learnt at an out-of-memory, for the run of the recording that it happened in.

Who keeps the memory and what the step would have needed can only be told while the threads
that want memory stand still. A recording (a session of TensorFlow's profiler, `record()`)
ends later; its run shows the same out-of-memory, and gets the same planes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from oom_forensics.in_training.evidence import trace_file
from oom_forensics.in_training.evidence.written_run import WrittenRun


class _Kept(NamedTuple):
    at_s: float
    planes: bytes


# By incident: few are looked into. Not each becomes an out-of-memory.
_looked_at: dict[int, _Kept] = {}
_kept: list[_Kept] = []


def keep(incident: int, run: WrittenRun, planes: Sequence[bytes]) -> None:
    """Keeps what was learnt while requests of an incident waited, or were refused."""
    # A recording with shifted addresses shifts them by an amount of its own.
    if planes and run.address_shift == 0:
        _looked_at[incident] = _Kept(time.monotonic(), b"".join(planes))


def confirm(incident: int) -> None:
    """The incident became an out-of-memory: a recording that is under way shows it too."""
    kept = _looked_at.pop(incident, None)
    if kept is not None:
        _kept.append(kept)


def planes_for(run: WrittenRun) -> bytes:
    """Returns the planes of the first out-of-memory since a recording began, or nothing."""
    # What was kept has real addresses; those of the recording may be shifted since.
    if run.began_s is None or trace_file.is_anonymized(run.trace):
        return b""
    return next((kept.planes for kept in _kept if kept.at_s >= run.began_s), b"")
