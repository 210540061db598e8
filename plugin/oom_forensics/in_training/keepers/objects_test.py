"""A look at all objects holds none of them for long, and none that C is still making."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

import oom_forensics
from oom_forensics.in_training.collector_library import PATH_IN_SITE_PACKAGES, CollectorLibrary
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


@pytest.fixture(scope="module")
def library() -> CollectorLibrary:
    return CollectorLibrary(Path(oom_forensics.__file__).parents[1] / PATH_IN_SITE_PACKAGES)


@pytest.fixture
def held() -> list[Held]:
    return [Held() for _ in range(1000)]


def test_each_object_is_seen_once_though_the_list_is_asked_for_again(
    library: CollectorLibrary, held: list[Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_MOST_AT_ONCE", 100)
    seen = [id(each) for each in each_object(library, (Held,), Deadline(60))]
    assert seen == sorted(map(id, held))


def test_what_is_let_go_of_during_a_look_is_gone_with_the_next_part(
    library: CollectorLibrary, held: list[Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = [weakref.ref(each) for each in held]
    monkeypatch.setattr(objects, "_MOST_AT_ONCE", 100)
    look = each_object(library, (object,), Deadline(60))
    next(look)
    held.clear()
    for _ in range(101):
        next(look)
    assert not [each for each in alive if each() is not None]


def test_a_part_ends_with_its_time(
    library: CollectorLibrary, held: list[Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = [weakref.ref(each) for each in held]
    # Longer than it takes to list all objects.
    monkeypatch.setattr(objects, "_HOLD_S", 1.0)
    look = each_object(library, (object,), Deadline(60))
    next(look)
    held.clear()
    time.sleep(1.5)
    next(look)
    next(look)
    assert not [each for each in alive if each() is not None]


def test_nothing_of_a_look_stays_when_it_has_ended(
    library: CollectorLibrary, held: list[Held]
) -> None:
    alive = [weakref.ref(each) for each in held]
    heap = Heap(library, Deadline(60))
    keys = {id(each) for each in held}
    assert {key for _, key in heap.references_to(keys)} == keys
    found = FoundAgain(library, {id(held), *keys})
    assert found.path([id(held), id(held[7])]) == [held, held[7]]
    del found
    held.clear()
    assert not [each for each in alive if each() is not None]


def test_an_id_that_leads_elsewhere_by_now_is_no_path(
    library: CollectorLibrary, held: list[Held]
) -> None:
    first = held[0]
    keys = {id(held), id(first)}
    del held[0]
    assert FoundAgain(library, keys).path([id(held), id(first)]) is None


def test_a_heap_knows_classes_and_modules_as_ends(library: CollectorLibrary) -> None:
    assert {id(Held), id(gc)} <= Heap(library, Deadline(60)).ends


def test_references_are_those_that_python_tells_of(
    library: CollectorLibrary, held: list[Held]
) -> None:
    held[0].pair = pair = (held[1], [held[2]])  # type: ignore[attr-defined]
    keys = [held[1], pair, pair[1]]
    heap = Heap(library, Deadline(60))
    for key in keys:
        holders = {holder for holder, _ in heap.references_to({id(key)})}
        assert holders == {
            id(each) for each in gc.get_referrers(key) if type(each) is not FrameType
        }


def test_a_tuple_that_only_one_object_holds_is_found_on_the_way_to_it(
    library: CollectorLibrary, held: list[Held]
) -> None:
    pairs = [(each,) for each in held]
    way = [id(pairs), id(pairs[5]), id(held[5])]
    assert FoundAgain(library, set(way)).path(way) == [pairs, (held[5],), held[5]]


def test_a_tuple_that_a_local_variable_has_is_found_if_it_is_said_to_be_finished(
    library: CollectorLibrary, held: list[Held]
) -> None:
    pair = (held[0], held[1])
    way = [id(pair), id(held[1])]
    assert FoundAgain(library, set(way)).path(way) is None
    assert FoundAgain(library, set(way), {id(pair)}).path(way) == [pair, held[1]]


def test_a_tuple_that_c_has_not_filled_yet_is_looked_at_without_a_crash(
    library: CollectorLibrary,
) -> None:
    make = ctypes.pythonapi.PyTuple_New
    make.argtypes, make.restype = [ctypes.c_ssize_t], ctypes.py_object
    unfilled = make(3)
    assert gc.is_tracked(unfilled)
    assert list(Heap(library, Deadline(60)).references_to({id(unfilled)})) == []


@pytest.mark.parametrize(
    "look",
    [
        lambda library: list(each_object(library, (object,), Deadline(60))),
        lambda library: Heap(library, Deadline(60)),
        lambda library: FoundAgain(library, {id(library)}),
    ],
    ids=["each_object", "heap", "found_again"],
)
def test_a_tuple_that_another_thread_makes_of_a_generator_comes_to_its_end(
    library: CollectorLibrary, look: Callable[[CollectorLibrary], object]
) -> None:
    # C gives it its size at the end, which it cannot if anybody else refers to it.
    is_over = threading.Event()
    failed: list[BaseException] = []

    def make_tuples() -> None:
        try:
            while not is_over.is_set():
                tuple(number * number for number in range(1000))
        except BaseException as error:
            failed.append(error)

    maker = threading.Thread(target=make_tuples)
    maker.start()
    try:
        end_s = time.monotonic() + 3
        while time.monotonic() < end_s and not failed:
            look(library)
    finally:
        is_over.set()
        maker.join()
    assert not failed
