"""A look at all objects holds none of them for long."""

from __future__ import annotations

import ctypes
import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers import objects
from oom_forensics.in_training.keepers.heap import Heap
from oom_forensics.in_training.keepers.objects import FoundAgain, each_object


class Held:
    """Something that the program may let go of."""


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    """What is kept in a circle stays."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture
def held() -> list[Held]:
    return [Held() for _ in range(1000)]


def test_each_object_is_seen_once_though_the_list_is_asked_for_again(
    held: list[Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_MOST_AT_ONCE", len(gc.get_objects()) // 10)
    seen = [id(each) for each in each_object(Deadline(60)) if type(each) is Held]
    assert seen == sorted(map(id, held))


def test_what_is_let_go_of_during_a_look_is_gone_with_the_next_part(
    held: list[Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = [weakref.ref(each) for each in held]
    monkeypatch.setattr(objects, "_MOST_AT_ONCE", 100)
    look = each_object(Deadline(60))
    next(look)
    held.clear()
    for _ in range(101):
        next(look)
    assert not [each for each in alive if each() is not None]


def test_a_part_ends_with_its_time(held: list[Held], monkeypatch: pytest.MonkeyPatch) -> None:
    alive = [weakref.ref(each) for each in held]
    # Longer than it takes to list all objects.
    monkeypatch.setattr(objects, "_HOLD_S", 1.0)
    look = each_object(Deadline(60))
    next(look)
    held.clear()
    time.sleep(1.5)
    next(look)
    next(look)
    assert not [each for each in alive if each() is not None]


def test_nothing_of_a_look_stays_when_it_has_ended(held: list[Held]) -> None:
    alive = [weakref.ref(each) for each in held]
    heap = Heap(Deadline(60), {Held: lambda _: None})
    keys = {id(each) for each in held}
    assert {key for _, key in heap.references_to(keys)} == keys
    found = FoundAgain({id(held), *keys})
    assert found.path([id(held), id(held[7])]) == [held, held[7]]
    del found
    held.clear()
    assert not [each for each in alive if each() is not None]


def test_an_id_that_leads_elsewhere_by_now_is_no_path(held: list[Held]) -> None:
    first = held[0]
    keys = {id(held), id(first)}
    del held[0]
    assert FoundAgain(keys).path([id(held), id(first)]) is None


def test_a_tuple_that_c_has_not_filled_yet_is_looked_at_without_a_crash() -> None:
    make = ctypes.pythonapi.PyTuple_New
    make.argtypes, make.restype = [ctypes.c_ssize_t], ctypes.py_object
    unfilled = make(3)
    assert gc.is_tracked(unfilled)
    heap = Heap(Deadline(60), {})
    assert list(heap.references_to({id(unfilled)})) == []
