"""Who holds the arrays and tensors of a process whose memory gets short, told to the black box.

A process that is killed cannot be asked. So Python looks while it grows: where its threads are,
at once; then, while there is room, which lists, dicts and other containers hold most. It is
bounded in time, and changes nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import sys
import threading
import traceback
from collections import deque
from collections.abc import Collection
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers.chains import Chain, ChainFinder
from oom_forensics.in_training.keepers.heap import Heap
from oom_forensics.in_training.keepers.objects import each_object
from oom_forensics.in_training.keepers.roots import Roots
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.frames import places_of_user, stack_of, stack_of_summaries

_HOLDER = 5
_STACK = 6
# Of each part of the search.
_LIMIT_S = 2.0
# The search takes memory itself, some ten MiB of a heap as large as Keras' own. So it is made where
# half of the memory is left; else, and where no more than this is, only where threads are is told.
_MOST_PERCENT = 50
_LEAST_LEFT_BYTES = 128 << 20
_MOST_HOLDERS = 3
# Less is not worth a name.
_LEAST_BYTES = 16 << 20
# Of a longer container this many items are looked at, and stand for all.
_MOST_ITEMS = 20_000
_CONTAINERS = (list, dict, tuple, set, deque)


def watch_host_shortage(library: CollectorLibrary) -> None:
    """Looks each time that memory has become shorter."""
    library.on_shortage(lambda percent, left_bytes: _look(library, percent, left_bytes))
    # Python is about to end.
    atexit.register(_end, library)


def _end(library: CollectorLibrary) -> None:
    library.on_shortage(None)
    if not _ends_by_memory_error():
        return
    settings = EvidenceSettings.now(library)
    origin = CodeOrigin.of(settings)
    raised = reversed(traceback.extract_tb(sys.last_traceback))
    _tell(library, _STACK, "MainThread", places_of_user(stack_of_summaries(raised, origin)), 100)
    library.end_by_memory_error()


def _ends_by_memory_error() -> bool:
    """Whether the program ends by one that nothing caught, as Python itself notes it.

    A prompt, Jupyter's too, notes errors that it lives on after.
    """
    error, raised = getattr(sys, "last_type", None), getattr(sys, "last_traceback", None)
    return (
        isinstance(error, type)
        and issubclass(error, MemoryError)
        and isinstance(raised, TracebackType)
        and raised.tb_frame.f_back is None
        and not hasattr(sys, "ps1")
    )


def _look(library: CollectorLibrary, percent: int, left_bytes: int) -> None:
    settings = EvidenceSettings.now(library)
    if not settings.keepers:
        return
    origin = CodeOrigin.of(settings)
    frames = sys._current_frames()
    # Its own would hold what it looks at.
    frames.pop(threading.get_ident(), None)
    for thread in threading.enumerate():
        where = places_of_user(stack_of(frames.get(thread.ident or 0), origin))
        if where:
            _tell(library, _STACK, thread.name, where, percent)
    # Before the search: a frame that is held keeps its variables when its function returns.
    roots = Roots(frames.get(threading.main_thread().ident or 0), origin)
    del frames
    if percent > _MOST_PERCENT or left_bytes < _LEAST_LEFT_BYTES:
        return
    held = _largest(library, Deadline(_LIMIT_S))
    if not held:
        return
    keys = [each.container for each in held]
    heap = Heap(library, Deadline(_LIMIT_S))
    # The container itself is what a chain leads to.
    finder = ChainFinder(library, heap, keys, roots, Deadline(_LIMIT_S))
    chains = dict(finder.chains_of(keys))
    for each in held:
        if chain := chains.get(each.container):
            where = places_of_user(chain.stack)
            _tell(library, _HOLDER, _name_of(chain), where, percent, each.items, each.bytes)


def _name_of(chain: Chain) -> str:
    """The container in words; one that has no name by what is on the way to it and has one."""
    for at in range(len(chain.links) - 1, -1, -1):
        link = chain.links[at]
        if link.name:
            is_attribute = at > 0 and not link.place
            return (
                link._replace(place=f"of {chain.links[at - 1].kind}") if is_attribute else link
            ).text
    return chain.links[0].text


def _tell(
    library: CollectorLibrary,
    kind: int,
    name: str,
    where: str,
    percent: int,
    items: int = 0,
    bytes_: int = 0,
) -> None:
    library.end_activity(library.begin_activity(kind, name, where), items, bytes_, str(percent))


class _Held(NamedTuple):
    """A container with the arrays and tensors that are in it, or in containers in it."""

    container: int
    """Its id."""
    items: int
    bytes: int


def _largest(library: CollectorLibrary, deadline: Deadline) -> list[_Held]:
    """Returns what holds most, the largest first."""
    from tensorflow.python.framework.ops import EagerTensor

    def bytes_of(item: Any, seen: set[int]) -> int:
        if type(item) is EagerTensor:
            # Of one that waits for its memory TensorFlow's attributes lead nowhere.
            if id(item) in seen or not library.tensor_address(item):
                return 0
            seen.add(id(item))
            return int(item.dtype.size * (item.shape.num_elements() or 0))
        while type(item.base) is np.ndarray:
            item = item.base
        if id(item) in seen:
            return 0
        seen.add(id(item))
        return int(item.nbytes)

    leaves = {np.ndarray, EagerTensor}
    direct: dict[int, int] = {}
    found: dict[int, _Held] = {}

    def look_into(container: Any, inner: dict[int, int]) -> None:
        items, scale = _items_of(container)
        kinds = set(map(type, items))
        if tuple in kinds:
            # One that only this container has is not among all objects.
            for item in items:
                if type(item) is tuple and id(item) not in inner:
                    look_into(item, inner)
        if leaves.isdisjoint(kinds) and inner.keys().isdisjoint(map(id, items)):
            return
        seen: set[int] = set()
        held_bytes = 0
        for item in items:
            if type(item) in leaves:
                held_bytes += bytes_of(item, seen)
            else:
                held_bytes += inner.get(id(item), 0)
        held_bytes = int(held_bytes * scale)
        if held_bytes > inner.get(id(container), 0):
            direct[id(container)] = held_bytes
            if held_bytes >= _LEAST_BYTES:
                found[id(container)] = _Held(id(container), len(container), held_bytes)

    # First what they hold themselves, then with the containers that are in them.
    for _ in range(2):
        inner = dict(direct)
        for each in each_object(library, _CONTAINERS, deadline):
            if type(each) in _CONTAINERS:
                with contextlib.suppress(RuntimeError):  # A thread changed it meanwhile.
                    look_into(each, inner)
    return sorted(found.values(), key=lambda held: -held.bytes)[:_MOST_HOLDERS]


def _items_of(container: Any) -> tuple[Collection[Any], float]:
    """Returns items of a container, and how many of all each stands for."""
    items = container.values() if type(container) is dict else container
    if len(items) <= _MOST_ITEMS:
        # A list or tuple that C is filling has empty places, at which an iterator crashes.
        return items if type(container) is dict else gc.get_referents(container), 1.0
    scale = len(items) / _MOST_ITEMS
    return tuple(itertools.islice(items, _MOST_ITEMS)), scale
