"""One look at all objects of Python's heap that its garbage collector knows.

The collector's own `gc.get_referrers` compares each reference with each object that is
asked for, one by one; here a level of any size takes one pass over what may hold others.
"""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterator
from typing import Any

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
)


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

    def forget(self) -> None:
        """Holds nothing any more."""
        for each in (self.tensors, self.variables, self.tapes, self._holders):
            each.clear()

    def referrers_of(self, keys: set[int]) -> Iterator[Any]:
        """Yields the objects that refer to any of those with these ids.

        `keys` may grow meanwhile: what comes later is compared with the new ones too.
        """
        referents_of = gc.get_referents
        for each in self._holders:
            if not keys.isdisjoint(map(id, referents_of(each))):
                yield each

    @property
    def own(self) -> set[int]:
        """The ids of the lists of this very look."""
        lists = (self.tensors, self.variables, self.tapes, self._holders)
        return {id(each) for each in lists} | {id(vars(self))}
