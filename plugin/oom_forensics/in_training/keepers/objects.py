"""The objects that Python's garbage collector knows, a part of them at a time.

Who looks at an object holds it: a list that the program lets go of meanwhile would live on, and
the memory of its tensors with it. So no look keeps the whole list of objects. It asks for the
list again after a moment, goes on where it was, and remembers objects by their ids.

And what C is still making must have no other reference at all. So the list itself is only ever
in the collector's hands (collector/python/heap.h), never in Python's.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.written_run import Deadline

# An object is held for about that long; where listing all of them takes longer, for as long as
# that takes: else a look at a large heap would do little but list it.
_HOLD_S = 0.2
_MOST_AT_ONCE = 1 << 18


def each_object(
    library: CollectorLibrary, kinds: tuple[type, ...], deadline: Deadline
) -> Iterator[Any]:
    """Yields each object of these classes, or derived ones, once, by rising ids.

    New ones may be left out, and tuples that have one reference only: go from what holds them.
    """
    after = 0
    while not deadline.passed:
        began_s = time.monotonic()
        part = library.next_objects(kinds, after, _MOST_AT_ONCE)
        if not part:
            return
        listed_s = time.monotonic()
        end_s = listed_s + max(_HOLD_S, listed_s - began_s)
        for each in part:
            yield each
            if time.monotonic() > end_s:
                break
        after = id(each)
        del part, each


class FoundAgain:
    """Objects by their ids, as far as they still live. It holds them: keep it for a moment only."""

    def __init__(
        self, library: CollectorLibrary, ids: set[int], finished: Iterable[int] = ()
    ) -> None:
        """`finished`: which of them no tuple that C is still filling can be."""
        found = library.objects_with_ids(ids, finished)
        self._objects = {id(each): each for each in found}
        self._ids = ids
        # Of an object: those of the ids that it leads to.
        self._leads_to: dict[int, dict[int, Any]] = {}

    def get(self, key: int) -> Any | None:
        """Returns the object with an id; None if it is gone."""
        return self._objects.get(key)

    def path(self, ids: Sequence[int]) -> list[Any] | None:
        """Returns the objects with these ids if each still refers to the one after it."""
        path = [self._objects.get(ids[0])]
        # An id may be that of another object by now: it is the same if it leads to the same.
        for holder, held in pairwise(ids):
            if path[-1] is None:
                return None
            if holder not in self._leads_to:
                referents = gc.get_referents(path[-1])
                self._leads_to[holder] = {id(r): r for r in referents if id(r) in self._ids}
            path.append(self._leads_to[holder].get(held))
        return path if path[-1] is not None else None
