"""One look at all objects of Python's heap that its garbage collector knows.

`gc.get_referrers` compares each reference with each object that is asked for, one by one. Here
the collector reads all references once, as addresses, and NumPy finds those that lead to a level
of any size.
"""

from __future__ import annotations

import importlib.machinery
import inspect
import types
import typing
import weakref
from collections.abc import Iterator

import numpy as np

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.written_run import Deadline

# They hold no tensor of anybody's, and are half of a heap.
_HOLD_NOTHING = (
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    property,
    staticmethod,
    classmethod,
    weakref.ReferenceType,
    importlib.machinery.ModuleSpec,
    importlib.machinery.SourceFileLoader,
    inspect.Parameter,
    inspect.Signature,
    typing.ForwardRef,
)
# References that are read, 8 bytes each.
_MOST_REFERENCES = 8 << 20
# Python's lock is kept while so many objects are read, some ten milliseconds.
_MOST_AT_ONCE = 1 << 17
# How many are compared at a time.
_BLOCK = 1 << 19


class Heap:
    """What referred to what at about one moment, by ids: it holds no object."""

    def __init__(self, library: CollectorLibrary, deadline: Deadline) -> None:
        from tensorflow.python.eager.backprop import GradientTape

        holders, referents = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        kinds, ends = [np.zeros(0, np.uint8)], [np.zeros(1, np.uint64)]
        after, left = 0, _MOST_REFERENCES
        while left > 0 and not deadline.passed:
            after, *read = library.references(
                (GradientTape, types.ModuleType, type), _HOLD_NOTHING, after, _MOST_AT_ONCE, left
            )
            if not after:
                break
            holders.append(np.frombuffer(read[0], np.uint64))
            kinds.append(np.frombuffer(read[1], np.uint8))
            ends.append(np.frombuffer(read[2], np.uint64) + ends[-1][-1])
            referents.append(np.frombuffer(read[3], np.uint64))
            left -= len(referents[-1])
        self._holders, self._referents = np.concatenate(holders), np.concatenate(referents)
        # The number of references up to the last one of each holder.
        self._ends = np.concatenate(ends)[1:]
        kind = np.concatenate(kinds)
        self.tapes: list[int] = self._holders[kind == 1].tolist()
        """The gradient tapes."""
        self.ends: set[int] = set(self._holders[kind > 1].tolist())
        """Classes and modules: what they hold is held for good."""

    def references_to(self, keys: set[int]) -> Iterator[tuple[int, int]]:
        """Yields the holder and the held of each reference to one of these ids."""
        wanted = np.sort(np.fromiter(keys, np.uint64, len(keys)))
        for first in range(0, len(self._referents), _BLOCK):
            block = self._referents[first : first + _BLOCK]
            nearest = wanted[np.minimum(np.searchsorted(wanted, block), len(wanted) - 1)]
            hits = np.flatnonzero(nearest == block)
            at = np.searchsorted(self._ends, hits + first, side="right")
            yield from zip(self._holders[at].tolist(), block[hits].tolist(), strict=True)
