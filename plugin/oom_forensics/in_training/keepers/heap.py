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
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers.objects import each_object
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
# They may be so long that a list of all they hold would not fit into memory: those are passed over.
_LONG = (list, tuple, set, deque)
# References that are read, 8 bytes each.
_MOST_REFERENCES = 8 << 20
# How many are compared at a time.
_BLOCK = 1 << 19

Look = Callable[[Any], None]


class Heap:
    """What referred to what at about one moment, by ids: it holds no object."""

    def __init__(self, deadline: Deadline, look_at: dict[type, Look]) -> None:
        """`look_at` has, by class, who is shown its objects, and those of derived classes."""
        from tensorflow.python.eager.backprop import GradientTape

        self.tapes: list[int] = []
        """The gradient tapes."""
        self.ends: set[int] = set()
        """Classes and modules: what they hold is held for good."""
        self._holders = array("Q")
        self._referents = array("Q")
        # Of each holder, how many references there are up to its last.
        self._ends = array("Q")
        looks: dict[type, Look | None] = {
            GradientTape: lambda tape: self.tapes.append(id(tape)),
            types.ModuleType: lambda module: self.ends.add(id(module)),
            type: lambda kind: self.ends.add(id(kind)),
            **look_at,
        }
        bases = (GradientTape, type, *look_at)
        passed_over = set(_HOLD_NOTHING)
        for each in each_object(deadline):
            kind = type(each)
            if kind in passed_over or (kind in _MAY_BE_OURS and _is_of_no_use(each)):
                continue
            if kind not in looks:
                looks[kind] = next((looks[base] for base in bases if has_base(each, base)), None)
            if look := looks[kind]:
                look(each)
            left = _MOST_REFERENCES - len(self._referents)
            if left == 0:
                break
            if kind in _LONG and len(each) > left:
                continue
            # Never by iterating: a list or tuple that C is filling has empty places, at which an
            # iterator crashes. What is not tracked, numbers and texts above all, leads nowhere.
            held = gc.get_referents(each)
            self._referents.extend(map(id, filter(gc.is_tracked, islice(held, left))))
            self._holders.append(id(each))
            self._ends.append(len(self._referents))

    def references_to(self, keys: set[int]) -> Iterator[tuple[int, int]]:
        """Yields the holder and the held of each reference to one of these ids."""
        wanted = np.sort(np.fromiter(keys, np.uint64, len(keys)))
        holders = np.frombuffer(self._holders, np.uint64)
        referents = np.frombuffer(self._referents, np.uint64)
        ends = np.frombuffer(self._ends, np.uint64)
        for first in range(0, len(referents), _BLOCK):
            block = referents[first : first + _BLOCK]
            nearest = wanted[np.minimum(np.searchsorted(wanted, block), len(wanted) - 1)]
            hits = np.flatnonzero(nearest == block)
            at = np.searchsorted(ends, hits + first, side="right")
            yield from zip(holders[at].tolist(), block[hits].tolist(), strict=True)


_MAY_BE_OURS = (types.FunctionType, types.FrameType, types.GeneratorType)


def _is_of_no_use(each: Any) -> bool:
    """Whether it is a function that holds nothing, or a part of this very look."""
    if type(each) is types.FunctionType:
        return not (each.__closure__ or each.__defaults__ or each.__kwdefaults__)
    code = each.f_code if type(each) is types.FrameType else each.gi_code
    return "/oom_forensics/in_training/" in code.co_filename
