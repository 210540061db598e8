"""How long a forecast may take: so much of the processor, and not longer than so much in all.

On a busy machine the clock goes on while nothing is done; by the clock alone a forecast would
be given up there that costs the job little.
"""

from __future__ import annotations

import time


class OutOfTimeError(Exception):
    """The forecast was given up: it took longer than it may."""


class TimeBudget:
    """Begins when it is made; of the thread that made it."""

    def __init__(self, processor_s: float, in_all_s: float) -> None:
        self._text = f"{processor_s:g} s of the processor, {in_all_s:.0f} s in all"
        self._processor_end_s = time.thread_time() + processor_s
        self._end_s = time.monotonic() + in_all_s

    def __str__(self) -> str:
        return self._text

    def check(self) -> None:
        """Raises OutOfTimeError where it is spent."""
        if time.thread_time() > self._processor_end_s or time.monotonic() > self._end_s:
            raise OutOfTimeError
