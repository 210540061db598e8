"""A look at local variables leaves no reference to them."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType

import pytest

from oom_forensics.in_training.source.frames import local_values


class Held:
    """The value of a local variable."""


def test_what_exec_left_in_a_function_is_there_after_a_look() -> None:
    mine = "a variable"
    exec("left = 41")
    local_values(sys._getframe(), "mine", "left")
    exec("assert left == 41")
    assert mine == "a variable"


@pytest.mark.parametrize("ask", ["exec", "eval"])
def test_code_that_runs_on_the_variables_of_a_function_keeps_what_it_assigned(ask: str) -> None:
    def run() -> object:
        mine = 1
        known = {"look": functools.partial(local_values, sys._getframe(), "mine"), "seen": [mine]}
        if ask == "exec":
            exec("mine = 2; known['look'](); known['seen'].append(mine)")
        else:
            eval("known['seen'].append([mine := 2, known['look'](), mine][-1])")
        return known["seen"]

    assert run() == [1, 2]


def with_locals(look: Callable[[FrameType], object]) -> dict[str, object]:
    mine = "a variable"
    held = locals()
    held["mine"] = "an entry"
    look(sys._getframe())
    return {**held, "later": mine}


def with_vars(look: Callable[[FrameType], object]) -> dict[str, object]:
    mine = "a variable"
    held = vars()
    held["mine"] = "an entry"
    look(sys._getframe())
    return {**held, "later": mine}


@pytest.mark.parametrize("function", [with_locals, with_vars])
def test_what_a_function_got_of_its_variables_stays_as_it_was(
    function: Callable[[Callable[[FrameType], object]], dict[str, object]],
) -> None:
    without = function(lambda _: None)
    with_it = function(lambda frame: local_values(frame, "mine"))
    assert with_it.keys() == without.keys()
    assert with_it["mine"] == without["mine"] == "an entry"


def test_a_function_that_asks_for_the_vars_of_an_object_is_looked_at() -> None:
    attributes = vars(Held())
    assert local_values(sys._getframe(), "attributes") == (attributes,)


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
