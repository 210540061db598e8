"""Who adds evidence to a written run, and for how long each may take.

At an out-of-memory providers run in a thread of the collector's own while those that want
memory stand still (`out_of_memory`); else in the thread that asked for the run. They may
neither fail the job nor hold it up: an exception is swallowed (and kept for
`oom-forensics doctor` and tests in `failures`), and the time of each is limited by its
deadline.

What is learnt at an out-of-memory during a recording cannot be learnt when the recording
ends. The planes of the out-of-memory's own run are therefore added to the recording's too
(`from_out_of_memory`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oom_forensics.in_training.evidence import from_out_of_memory, shown_in_run, trace_file
from oom_forensics.in_training.evidence.written_run import Deadline, WrittenRun
from oom_forensics.in_training.garbage_collection import WithoutGarbageCollection

Provider = Callable[[WrittenRun], "bytes | None"]

# What is kept of them, the last ones.
_MOST_FAILURES = 8

failures: list[str] = []
"""What went wrong in providers of this process, one line each."""


@dataclass(frozen=True)
class _Registered:
    provider: Provider
    limit_s: float
    origins: tuple[str, ...]

    @property
    def is_of_its_moment(self) -> bool:
        """Whether what it tells cannot be asked when a recording has ended."""
        return "profile" not in self.origins


_registered: list[_Registered] = []


def register(
    provider: Provider,
    *,
    limit_s: float = 1.0,
    origins: tuple[str, ...] = ("oom", "snapshot", "profile"),
) -> None:
    """Has `provider(run)` called for each written run of these origins.

    It returns a serialised XSpace, whose planes are appended to the run's trace, or None.
    It has to look at `run.deadline`, which passes after `limit_s`; it may neither block
    nor call code of the user.
    """
    _registered.append(_Registered(provider, limit_s, origins))


def ask_all(run: WrittenRun) -> Iterator[tuple[bytes, bool]]:
    """Yields the planes of each provider that has some, and whether they are of this moment.

    What is of its moment cannot be asked any more when a recording has ended.
    """
    try:
        for each in _registered:
            if run.origin in each.origins and time.monotonic() < run.end_s:
                planes = _ask(each, run)
                if planes:
                    yield planes, each.is_of_its_moment
    finally:
        run.frame = None


def add_evidence(run: WrittenRun) -> None:
    """Appends what the providers have to the trace of a snapshot or recording. Never raises."""
    try:
        planes = b"".join(planes for planes, _ in ask_all(run))
        if run.origin == "profile":
            planes += from_out_of_memory.planes_for(run)
        if planes:
            trace_file.append_planes(run.trace, planes)
        if run.origin == "profile":
            shown_in_run.mark(run)
    except Exception as error:
        _note(error)


def _ask(registered: _Registered, run: WrittenRun) -> bytes | None:
    run.deadline = Deadline(registered.limit_s, run.end_s)
    try:
        with WithoutGarbageCollection():
            return registered.provider(run)
    except Exception as error:
        _note(error)
        return None


def _note(error: Exception) -> None:
    with contextlib.suppress(Exception):
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where else "?"
        failures.append(f"{type(error).__name__} at {place}: {error}")
        del failures[:-_MOST_FAILURES]
