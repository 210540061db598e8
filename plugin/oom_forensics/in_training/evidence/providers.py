"""Who adds evidence to a written run, and for how long each may take.

Providers run in the thread that met the error, or asked for the run, while its frames
are still there. They may neither fail the job nor hold it up: an exception is swallowed
(and kept for `oom-forensics doctor` and tests in `failures`), the time of each is limited
by its deadline, and only the first out-of-memories of a process are looked into, as a
search for a batch size meets many.

What is learnt at an out-of-memory during a recording cannot be learnt when the recording
ends. The planes of the out-of-memory's own run are therefore added to the recording's too
(`from_out_of_memory`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from oom_forensics.in_training.evidence import from_out_of_memory, shown_in_run, trace_file
from oom_forensics.in_training.evidence.written_run import Deadline, WrittenRun

Provider = Callable[[WrittenRun], "bytes | None"]

# Out-of-memories of one process that are looked into.
_MOST_OOMS = 3
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
_state = threading.local()
_ooms = 0


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


def add_evidence(run: WrittenRun) -> None:
    """Asks the providers and appends what they have to the run's trace. Never raises."""
    global _ooms
    # A provider that runs out of memory itself is not asked about that.
    if getattr(_state, "busy", False):
        return
    if run.origin == "oom":
        shown_in_run.note(run)
        _ooms += 1
        if _ooms > _MOST_OOMS:
            return
    _state.busy = True
    try:
        answers = [(each, _ask(each, run)) for each in _registered]
        planes = b"".join(planes for _, planes in answers if planes)
        if run.origin == "oom":
            from_out_of_memory.keep(
                run, [planes for each, planes in answers if planes and each.is_of_its_moment]
            )
        elif run.origin == "profile":
            planes += from_out_of_memory.planes_for(run)
        if planes:
            trace_file.append_planes(run.trace, planes)
        if run.origin == "profile":
            shown_in_run.mark(run)
    except Exception as error:
        _note(error)
    finally:
        _state.busy = False
        run.frame = None


def _ask(registered: _Registered, run: WrittenRun) -> bytes | None:
    if run.origin not in registered.origins:
        return None
    run.deadline = Deadline(registered.limit_s)
    try:
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
