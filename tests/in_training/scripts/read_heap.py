"""Reads this interpreter's heap with the probe, and asks Python for the same."""

import ctypes
import gc
import sys
import threading
from array import array

PROBE = ctypes.PyDLL(sys.argv[1])
COUNT, OBJECT, IDS = ctypes.c_uint64, ctypes.py_object, ctypes.c_char_p
for name, arguments in (
    ("NextObjects", [OBJECT, OBJECT, COUNT, COUNT]),
    ("ObjectsWithIds", [OBJECT, IDS, COUNT, IDS, COUNT]),
    ("ReadReferences", [OBJECT, OBJECT, OBJECT, COUNT, COUNT, COUNT]),
):
    function = getattr(PROBE, f"Probe_{name}")
    function.argtypes, function.restype = arguments, OBJECT


class Slotted:
    __slots__ = ("held",)


class Derived(Slotted, metaclass=type("Meta", (type,), {})):
    pass


def words(of_bytes):
    return list(array("Q", of_bytes))


def references(kinds=(), passed_over=(), most=1 << 30):
    """Returns what each object leads to and its kind, by ids, part by part."""
    found, kind_of, after = {}, {}, 0
    while True:
        last, ids, kinds_of_ids, ends, held = PROBE.Probe_ReadReferences(
            gc.get_objects, kinds, passed_over, after, most, 1 << 30
        )
        if not last:
            return found, kind_of
        assert last > after
        begin, referents = 0, words(held)
        for key, kind, end in zip(words(ids), kinds_of_ids, words(ends), strict=True):
            found[key], kind_of[key], begin = referents[begin:end], kind, end
        after = last


def nested():
    held = [Derived(), Derived()]
    held[0].held = (held[1], {"key": held[1]}, [1, "text"])
    held[1].extra = {held[0]}

    def closure(default=held):
        return held, default

    yield held, closure
    yield held


def check_references():
    generator = nested()
    held, closure = next(generator)
    keep = [generator, held, held[0].held, held[0].held[1], held[1].extra, closure, Derived]
    of_each, _ = references()
    for each in keep:
        expected = [id(r) for r in gc.get_referents(each) if gc.is_tracked(r)]
        assert of_each[id(each)] == expected, each
    assert id(words) not in of_each, "a function that holds nothing"


def check_kinds():
    held = [Derived(), Slotted()]
    keys = [id(each) for each in held]
    _, kinds = references((type, Slotted), (list,))
    assert [kinds[key] for key in keys] == [2, 2]
    assert kinds[id(Derived)] == 1
    assert id(held) not in kinds
    some = PROBE.Probe_NextObjects(gc.get_objects, (Slotted,), 0, 1)
    assert list(map(id, some)) == [min(keys)]
    rest = PROBE.Probe_NextObjects(gc.get_objects, (Slotted,), id(some[0]), 9)
    assert list(map(id, rest)) == [max(keys)]


def check_tuples():
    alone, twice = (Slotted(),), (Slotted(),)
    also = [twice]
    ids = array("Q", sorted([id(alone), id(twice)])).tobytes()
    finished = array("Q", [id(alone)]).tobytes()
    found = PROBE.Probe_ObjectsWithIds(gc.get_objects, ids, 2, b"", 0)
    assert list(map(id, found)) == [id(also[0])]
    found = PROBE.Probe_ObjectsWithIds(gc.get_objects, ids, 2, finished, 1)
    assert sorted(map(id, found)) == sorted([id(alone), id(twice)])


def check_nothing_is_kept():
    held = [Slotted() for _ in range(100)]
    counts = [sys.getrefcount(each) for each in held]
    for _ in range(10):
        references()
        PROBE.Probe_NextObjects(gc.get_objects, (Slotted,), 0, 1000)
    assert counts == [sys.getrefcount(each) for each in held]


def check_parts():
    whole, _ = references()
    parts, _ = references(most=100)
    missing = whole.keys() - parts.keys()
    assert len(missing) < len(whole) // 10, (len(missing), len(whole))
    _, _, _, ends, held = PROBE.Probe_ReadReferences(gc.get_objects, (), (), 0, 1 << 30, 50)
    assert len(words(held)) == 50 == words(ends)[-1]


def check_unfinished_tuples():
    failed = []
    is_over = threading.Event()

    def make_tuples():
        try:
            while not is_over.is_set():
                tuple(number for number in range(1000))
        except BaseException as error:
            failed.append(error)

    maker = threading.Thread(target=make_tuples)
    maker.start()
    for _ in range(300):
        PROBE.Probe_NextObjects(gc.get_objects, (object,), 0, 1 << 30)
    is_over.set()
    maker.join()
    assert not failed, failed


gc.disable()
for check in [each for name, each in sorted(globals().items()) if name.startswith("check_")]:
    check()
