"""A look leaves the program's garbage where it is."""

from __future__ import annotations

import gc
import threading

from oom_forensics.in_training.garbage_collection import WithoutGarbageCollection


class Noted:
    """Notes which thread ends it."""

    def __init__(self, ended_in: list[int]) -> None:
        self._ended_in = ended_in

    def __del__(self) -> None:
        self._ended_in.append(threading.get_ident())


def test_what_a_program_has_let_go_of_does_not_end_in_the_thread_that_looks() -> None:
    gc.collect()
    ended_in: list[int] = []

    def look() -> None:
        with WithoutGarbageCollection():
            circle: list[object] = [Noted(ended_in)]
            circle.append(circle)
            del circle
            # More than enough for Python to look for circles, youngest first.
            _ = [[] for _ in range(100_000)]

    looking = threading.Thread(target=look)
    looking.start()
    ident = looking.ident
    looking.join()
    gc.collect()
    assert gc.isenabled()
    assert ended_in
    assert ident not in ended_in


def test_a_program_without_garbage_collection_stays_so() -> None:
    gc.disable()
    try:
        with WithoutGarbageCollection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
