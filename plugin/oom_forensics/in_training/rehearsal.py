"""The rehearsed program's side of `oom-forensics rehearse`.

The command asks for it in the environment: everything is recorded from the import of
TensorFlow on, and the process is ended once so many training steps are over.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable

from oom_forensics.in_training.collector_library import CollectorLibrary

_LOGDIR = "OOM_FORENSICS_REHEARSAL"


class Rehearsal:
    """Records until it is over, once."""

    def __init__(self, library: CollectorLibrary, logdir: str, steps: int, seconds: float) -> None:
        self._library = library
        self._logdir = logdir
        self._steps_left = steps
        self._lock = threading.Lock()
        self._recorded = False
        library.start_recording()
        # A program that ends by itself is written too.
        atexit.register(self._write)
        timer = threading.Timer(seconds, self._end)
        timer.daemon = True
        timer.start()

    def begin_step(self, begin: Callable[[int], None]) -> Callable[[int], None]:
        """Returns a function that counts steps, and calls `begin` with each."""
        running = False

        def counted(number: int) -> None:
            nonlocal running
            begin(number)
            self._steps_left -= running
            running = number >= 0
            if self._steps_left <= 0:
                self._end()

        return counted

    def _end(self) -> None:
        """Ends the process: what it would do after its training is not rehearsed."""
        self._write()
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(0)

    def _write(self) -> None:
        with self._lock:
            if not self._recorded:
                self._recorded = True
                self._library.stop_recording(self._logdir)


def begin_if_asked(
    library: CollectorLibrary, begin: Callable[[int], None]
) -> Callable[[int], None]:
    """Returns what is called as each training step begins: `begin`, or a rehearsal around it."""
    logdir = os.environ.get(_LOGDIR)
    if not logdir:
        return begin
    # Programs that this one starts are not rehearsed with it.
    del os.environ[_LOGDIR]
    rehearsal = Rehearsal(
        library,
        logdir,
        int(os.environ.get(_LOGDIR + "_STEPS", "3")),
        float(os.environ.get(_LOGDIR + "_SECONDS", "600")),
    )
    return rehearsal.begin_step(begin)
