"""One look at all objects of Python's heap that its garbage collector knows.

The collector's own `gc.get_referrers` compares each reference with each object that is
asked for, one by one. Here all references are read once, as addresses, and NumPy finds those
that lead to a level of any size: a tenth of the time of asking each object again.
"""

from __future__ import annotations

import gc
import importlib.machinery
import inspect
import types
import typing
import weakref
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from oom_forensics.in_training.keepers.safe_looks import has_base

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
# References that are read once, 8 bytes each; what more there are is asked at each level.
_MOST_REFERENCES = 8 << 20
# How many are compared at a time.
_BLOCK = 1 << 19


class Heap:
    """The tensors, the variables and the gradient tapes of a moment, and what may hold them.

    It holds all of them, itself too: whoever makes one calls `forget` when done, or they
    live until Python looks for cycles.
    """

    def __init__(self) -> None:
        from tensorflow.python.eager.backprop import GradientTape
        from tensorflow.python.framework.ops import EagerTensor
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        self.tensors: list[Any] = []
        self.variables: list[Any] = []
        self.tapes: list[Any] = []
        self._holders: list[Any] = []
        special: dict[type, list[Any] | None] = dict.fromkeys(_HOLD_NOTHING)
        special[EagerTensor] = self.tensors
        for each in gc.get_objects():
            kind = type(each)
            if kind is types.FunctionType:
                if each.__closure__ or each.__defaults__ or each.__kwdefaults__:
                    self._holders.append(each)
                continue
            if kind not in special:
                special[kind] = (
                    self.variables
                    if has_base(each, BaseResourceVariable)
                    else self.tapes
                    if has_base(each, GradientTape)
                    else self._holders
                )
            place = special[kind]
            if place is None:
                continue
            place.append(each)
            # A tensor may have another as an attribute: Keras leaves the logits of a softmax or
            # a sigmoid with its output.
            if place is not self._holders:
                self._holders.append(each)
        self._referents = array("Q")
        # Of each holder, how many references there are up to its last.
        self._ends = array("Q")
        for each in self._holders:
            if len(self._referents) > _MOST_REFERENCES:
                break
            self._referents.extend(map(id, gc.get_referents(each)))
            self._ends.append(len(self._referents))

    def forget(self) -> None:
        """Holds nothing any more."""
        for each in (self.tensors, self.variables, self.tapes, self._holders):
            each.clear()

    def referrers_of(self, keys: set[int]) -> Iterator[Any]:
        """Yields the objects that refer to any of those with these ids, or did at first."""
        wanted = np.sort(np.fromiter(keys, np.uint64, len(keys)))
        referents = np.frombuffer(self._referents, np.uint64)
        ends = np.frombuffer(self._ends, np.uint64)
        last = -1
        for first in range(0, len(referents), _BLOCK):
            block = referents[first : first + _BLOCK]
            nearest = wanted[np.minimum(np.searchsorted(wanted, block), len(wanted) - 1)]
            hits = np.flatnonzero(nearest == block) + first
            for holder in np.unique(np.searchsorted(ends, hits, side="right")).tolist():
                if holder != last:
                    last = holder
                    yield self._holders[holder]
        for at in range(len(self._ends), len(self._holders)):
            if not keys.isdisjoint(map(id, gc.get_referents(self._holders[at]))):
                yield self._holders[at]

    @property
    def own(self) -> set[int]:
        """The ids of the lists of this very look."""
        lists = (self.tensors, self.variables, self.tapes, self._holders)
        return {id(each) for each in lists} | {id(vars(self))}
