"""The objects that Python's garbage collector knows, a part of them at a time.

Who looks at an object holds it: a list that the program lets go of meanwhile would live on, and
the memory of its tensors with it. So no look keeps the whole list of objects. It asks for the
list again after a moment, goes on where it was, and remembers objects by their ids.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from oom_forensics.in_training.evidence.written_run import Deadline

# An object is held for about that long; where listing all of them takes longer, for as long as
# that takes: else a look at a large heap would do little but list it.
_HOLD_S = 0.2
_MOST_AT_ONCE = 1 << 18


def each_object(deadline: Deadline) -> Iterator[Any]:
    """Yields each object once, by rising ids, until the deadline; new ones may be left out."""
    after = 0
    while not deadline.passed:
        began_s = time.monotonic()
        part = _next_objects(after)
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


def _next_objects(after: int) -> list[Any]:
    """Returns the objects with the next ids, in their order."""
    objects = gc.get_objects()
    ids = np.fromiter(map(id, objects), np.uint64, len(objects))
    at = np.flatnonzero(ids > after)
    if len(at) > _MOST_AT_ONCE:
        at = at[np.argpartition(ids[at], _MOST_AT_ONCE)[:_MOST_AT_ONCE]]
    at = at[np.argsort(ids[at])]
    # A comprehension's cell with the list in it would be in the list: a circle.
    return list(map(objects.__getitem__, at.tolist()))


class FoundAgain:
    """Objects by their ids, as far as they still live. It holds them: keep it for a moment only."""

    def __init__(self, ids: set[int]) -> None:
        self._objects = {id(each): each for each in gc.get_objects() if id(each) in ids}
        # An id may be that of another object by now: it is the same if it leads to the same.
        self._leads_to = {
            key: ids.intersection(map(id, gc.get_referents(each)))
            for key, each in self._objects.items()
        }

    def get(self, key: int) -> Any | None:
        """Returns the object with an id; None if it is gone."""
        return self._objects.get(key)

    def path(self, ids: Sequence[int]) -> list[Any] | None:
        """Returns the objects with these ids if each still refers to the one after it."""
        if ids[-1] not in self._objects:
            return None
        for holder, held in pairwise(ids):
            if held not in self._leads_to.get(holder, ()):
                return None
        return [self._objects[key] for key in ids]
