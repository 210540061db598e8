"""Lets the collector take the Python stack of each eager allocation.

The collector reads the frames of a thread out of Python's memory, without Python's lock.
How they lie there is no promise of Python's, so this module describes the frames that it
is called from, and the collector begins only if it reads the same ones. Before the
interpreter takes its threads apart, it has to end.
"""

from __future__ import annotations

import atexit
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from oom_forensics.in_training.collector_library import CollectorLibrary, KnownFrame


def watch_stacks(library: CollectorLibrary) -> None:
    """Begins to take stacks; where that is not possible `status()["stacks"]` says why."""
    library.set_source_roots(library_prefixes(), project_root())
    if _proves(library):
        atexit.register(library.stop_stacks)
        # A child of fork() keeps the layout; what multiprocessing spawns begins anew.


def library_prefixes() -> list[str]:
    """Returns how the paths of Python's library, installed packages and made files begin."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    # A virtual environment has a library of its own beside the one it was made from.
    folders.update(site.getsitepackages([sys.prefix, sys.base_prefix]))
    folders.add(site.getusersitepackages())
    folders.add(str(Path(__file__).resolve().parent.parent))
    folders.update([os.path.realpath(folder) for folder in folders])
    # What AutoGraph writes of a function of the user's has other lines than that one; the
    # call of the function is the user's.
    generated = os.path.join(tempfile.gettempdir(), "__autograph_generated_file")
    return [*sorted(folder.rstrip("/") + "/" for folder in folders), generated]


def project_root() -> str:
    """Returns the folder of the program that runs, or the current one of a prompt."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        return os.path.dirname(os.path.abspath(file)) if file else os.getcwd()
    except OSError:  # the current folder is gone
        return ""


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
