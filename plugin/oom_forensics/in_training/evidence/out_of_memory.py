"""Looks at an out-of-memory before the refused request returns to TensorFlow.

The collector asks, in a thread of its own, while the threads that want memory stand still
inside of TensorFlow: begun while the allocator waits, before it gives up. So the evidence is
on disk even where TensorFlow takes the process down next. Nothing here may request memory of
an allocator, wait for an op or run code of the user.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import from_out_of_memory, providers
from oom_forensics.in_training.evidence.trace_file import RecordedOp
from oom_forensics.in_training.evidence.written_run import Request, WrittenRun


def watch_out_of_memories(library: CollectorLibrary) -> None:
    """Has the providers asked at each out-of-memory that the collector asks about."""
    library.start_evidence(lambda question: _look(library, question))
    atexit.register(library.stop_evidence)


def _look(library: CollectorLibrary, question: dict[str, Any]) -> None:
    incident = int(question["incident"])
    run = WrittenRun(
        trace=Path(question["trace"]),
        origin="oom",
        address_shift=int(question["address_shift"]),
        frame=_frame_of(int(question["thread"])),
        request=Request(
            RecordedOp(
                question["op"], question["shape"], int(question["dtype"]), question["eager"]
            ),
            int(question["step_id"]),
            question["allocator"],
        ),
        end_s=time.monotonic() + question["limit_seconds"],
    )
    kept: list[bytes] = []
    for planes, is_of_its_moment in providers.ask_all(run):
        if is_of_its_moment:
            kept.append(planes)
        if not library.add_evidence(incident, planes):
            return
    from_out_of_memory.keep(incident, run, kept)


def _frame_of(thread: int) -> FrameType | None:
    """Returns the innermost frame of the thread that wants memory, or waits for who does.

    What a function runs may ask in a thread of TensorFlow's, for which a thread of Python
    waits that called the function. Of several that wait it is any one.
    """
    frames = sys._current_frames()
    # This function's own frame would keep itself, and what all the others hold, in a circle.
    frames.pop(threading.get_ident(), None)
    if thread in frames:
        return frames[thread]
    for innermost in frames.values():
        frame: FrameType | None = innermost
        while frame is not None:
            code = frame.f_code
            if code.co_name == "call_flat" and code.co_filename.endswith("atomic_function.py"):
                return innermost
            frame = frame.f_back
    return None
