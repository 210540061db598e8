"""A run that has just been written, as a provider of evidence sees it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Literal, NamedTuple

from oom_forensics.in_training.evidence import trace_file

Origin = Literal["oom", "snapshot", "profile"]


class Deadline:
    """A moment by which work of this thread has to be given up.

    The limit is on the time that the thread works, so that a busy machine does not cut its
    findings; by the clock it is at most `busy_factor` times as long, and not beyond `end_s` of
    the monotonic clock.
    """

    def __init__(self, limit_s: float, end_s: float = math.inf, *, busy_factor: float = 3) -> None:
        in_all_s = busy_factor * limit_s
        self._text = f"{limit_s:g} s of the processor, {in_all_s:.0f} s in all"
        self._end_of_work_s = time.thread_time() + limit_s
        self._end_s = min(end_s, time.monotonic() + in_all_s)

    def __str__(self) -> str:
        return self._text

    @property
    def left_s(self) -> float:
        """Seconds that are left; 0 when it has passed."""
        left_s = min(self._end_of_work_s - time.thread_time(), self._end_s - time.monotonic())
        return max(0.0, left_s)

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left_s == 0


class Request(NamedTuple):
    """A request of memory that was refused, or waits and may be."""

    op: trace_file.RecordedOp
    step_id: int
    allocator: str


@dataclass
class WrittenRun:
    """A run that was or will be written, and what this process can tell of its moment.

    It lives as long as the providers are asked; keep no reference to it or its frames.
    """

    trace: Path
    """The .xplane.pb file; at an out-of-memory a copy of what it will be."""
    origin: Origin
    address_shift: int = 0
    """What was taken off every address of the trace."""
    frame: FrameType | None = None
    """The innermost frame of the thread that wants memory, or asked for the run."""
    request: Request | None = None
    """Of an out-of-memory: what the run is about."""
    end_s: float = math.inf
    """By then all providers have to have returned, by the monotonic clock."""
    began_s: float | None = None
    """Of a recording: when it began, by the monotonic clock; None if that is not known."""
    deadline: Deadline = field(default_factory=lambda: Deadline(1.0))
    """By when a provider has to return; set again for each."""

    @cached_property
    def ops(self) -> list[trace_file.RecordedOp]:
        """The ops whose allocations or failed requests were recorded, with their shapes."""
        ops = trace_file.recorded_ops(self.trace)
        # It may wait as yet, and be the first of its op.
        if self.request is not None and self.request.op.name:
            ops.append(self.request.op)
        return ops

    @property
    def op_names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(op.name for op in self.ops)
