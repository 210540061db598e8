"""How Python learns that a run was written.

- An out-of-memory: its run is complete (`out_of_memory`) before TensorFlow makes the
  `ResourceExhaustedError`. As the error is made, the run is sent to where it belongs, and
  known to a recording that is under way.
- `oom_forensics.snapshot()` and `record()`: they say so themselves.
- A session of TensorFlow's profiler: when it has exported its trace.
- What nobody fetched until then (an error that never reached Python, a snapshot by a
  signal): at the end of a recording, and at the interpreter's exit.

While a session of TensorFlow's profiler that was asked for over the network (CAPTURE
PROFILE) ends, no Python runs; such a trace stays as TensorFlow wrote it.
"""

from __future__ import annotations

import atexit
import contextlib
import time
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import from_out_of_memory, shown_in_run
from oom_forensics.in_training.evidence.providers import add_evidence
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.evidence.written_run import WrittenRun
from oom_forensics.in_training.in_place import call_before, in_place_of
from oom_forensics.remote.addresses import is_url
from oom_forensics.remote.sending import begin as begin_sending


def add_to_written_runs(
    library: CollectorLibrary,
    frame: FrameType | None = None,
    began_s: float | None = None,
) -> None:
    """Adds evidence to the runs that were written since the last call and have none.

    Those of a logdir that is a URL are then copied there, in the background. Never raises.
    `frame` is the innermost one of the thread that asked for the run; `began_s` is when the
    recording began that has ended.
    """
    with contextlib.suppress(Exception), library.looking():
        for written in library.take_written_runs():
            trace = Path(written["trace"])
            if written["origin"] == "oom":
                shown_in_run.note(trace.parent)
                from_out_of_memory.confirm(int(written["incident"]))
            elif EvidenceSettings.now(library).evidence:
                add_evidence(
                    WrittenRun(
                        trace=trace,
                        origin=written["origin"],  # type: ignore[arg-type]
                        address_shift=int(written["address_shift"]),
                        frame=frame,
                        began_s=began_s,
                    )
                )
            begin_sending(trace.parent, written["remote_logdir"])


def watch_exit(library: CollectorLibrary) -> None:
    """Adds evidence to the runs nobody fetched when the interpreter ends."""
    atexit.register(add_to_written_runs, library)


def watch_sessions(module: ModuleType, library: CollectorLibrary) -> None:
    """Learns the logdir of each `ProfilerSession` of `module`, and adds evidence to its trace."""
    session = module.ProfilerSession
    export = session.export_to_tb
    # TensorFlow has one session at a time.
    current_logdir = ""
    began_s = 0.0

    def remember(_session: Any, logdir: Any, *_: Any, **__: Any) -> None:
        nonlocal current_logdir, began_s
        began_s = time.monotonic()
        current_logdir = ""
        if isinstance(logdir, str):
            library.learn_logdir(logdir)
            current_logdir = "" if is_url(logdir) else logdir

    @in_place_of(export)
    def export_and_add(self: Any) -> Any:
        add_to_written_runs(library)
        before = _traces_in(current_logdir)
        result = export(self)
        with contextlib.suppress(Exception):
            if current_logdir and EvidenceSettings.now(library).evidence:
                for trace in _traces_in(current_logdir) - before:
                    add_evidence(WrittenRun(trace=trace, origin="profile", began_s=began_s))
        return result

    call_before(session, "start", remember)
    session.export_to_tb = export_and_add


def _traces_in(logdir: str) -> set[Path]:
    """Returns the traces of a local logdir; none where there is no such folder."""
    return set(Path(logdir).glob("plugins/profile/*/*.xplane.pb")) if logdir else set()
