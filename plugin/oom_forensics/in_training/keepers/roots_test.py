"""What a look for roots leaves behind."""

from __future__ import annotations

import gc
import sys
import weakref

from oom_forensics.in_training.keepers.roots import running_frames


class Held:
    """A local variable of a function whose frame is looked at."""


def attempt() -> weakref.ref[Held]:
    held = Held()
    assert list(running_frames(sys._getframe()))
    return weakref.ref(held)


def test_frames_that_were_looked_at_let_go_of_their_variables_at_once() -> None:
    gc.disable()
    try:
        assert attempt()() is None
    finally:
        gc.enable()
