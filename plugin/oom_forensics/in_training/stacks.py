"""Lets the collector take the Python stack of each eager allocation.

The collector reads the frames of a thread out of Python's memory, without Python's lock.
How they lie there is no promise of Python's, so this module describes the frames that it
is called from, and the collector begins only if it reads the same ones. Before the
interpreter takes its threads apart, it has to end.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from types import FrameType

from oom_forensics.in_training.collector_library import CollectorLibrary, KnownFrame
from oom_forensics.in_training.source.code_origin import library_prefixes
from oom_forensics.in_training.source.shown_paths import project_root


def watch_stacks(library: CollectorLibrary) -> None:
    """Begins to take stacks; where that is not possible `status()["stacks"]` says why."""
    library.set_source_roots(library_prefixes(), project_root())
    if _proves(library):
        atexit.register(library.stop_stacks)
        # A child of fork() keeps the layout; what multiprocessing spawns begins again.


def _proves(library: CollectorLibrary) -> bool:
    """Has the collector compare frames of every kind that programs are made of."""
    namespace: dict[str, object] = {}
    # Code without a file, and a name beyond ASCII.
    exec("def prüfe(function):\n    return (\n        function()\n    )", namespace)  # noqa: S102
    check = namespace["prüfe"]

    def in_generator() -> Iterator[bool]:
        yield check(lambda: _agrees(library))  # type: ignore[operator]

    return next(in_generator())


def _agrees(library: CollectorLibrary) -> bool:
    here = sys._getframe()
    frames = [_describe(here, goes_on=True)]
    caller = here.f_back
    while caller is not None:
        frames.append(_describe(caller, goes_on=False))
        caller = caller.f_back
    return library.start_stacks(sys.hexversion, frames) is None


def _describe(frame: FrameType, *, goes_on: bool) -> KnownFrame:
    code = frame.f_code
    return KnownFrame(
        id(code),
        -1 if goes_on else frame.f_lasti,
        frame.f_lineno or 0,
        code.co_filename.encode(errors="replace"),
        code.co_name.encode(errors="replace"),
    )
