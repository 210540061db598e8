"""A look at local variables leaves no reference to them."""

from __future__ import annotations

import sys
import weakref

from oom_forensics.in_training.source.frames import local_values


class Held:
    """The value of a local variable."""


def test_a_variable_that_is_deleted_after_a_look_does_not_live_on() -> None:
    held = Held()
    alive = weakref.ref(held)
    assert local_values(sys._getframe(), "held", "missing") == (held, None)
    del held
    assert alive() is None
