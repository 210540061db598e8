"""A look at local variables leaves no reference to them."""

from __future__ import annotations

import sys
import weakref

from oom_forensics.in_training.source.frames import local_values


class Held:
    """The value of a local variable."""


def test_what_exec_left_in_a_function_is_there_after_a_look() -> None:
    mine = "a variable"
    exec("left = 41")
    assert local_values(sys._getframe(), "mine", "left") == (mine, 41)
    exec("assert left == 41")


def test_what_locals_gave_to_the_program_stays_as_it_was() -> None:
    mine = "a variable"
    held = locals()
    before = dict(held)
    later = [mine]
    local_values(sys._getframe(), "mine")
    assert held == before
    assert later == [mine]


def test_the_variables_of_a_class_that_is_being_made_stay() -> None:
    class Made:
        before = 1
        seen = local_values(sys._getframe(), "before")
        after = before + 1

    assert Made.seen == (1,)
    assert Made.after == 2


def test_a_variable_that_is_deleted_after_a_look_does_not_live_on() -> None:
    held = Held()
    alive = weakref.ref(held)
    assert local_values(sys._getframe(), "held", "missing") == (held, None)
    del held
    assert alive() is None
