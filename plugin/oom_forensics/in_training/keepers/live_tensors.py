"""The eager tensors and variables of this process, each with where its memory lies.

The collector reads the addresses out of memory. No op runs: an op that reads a variable
copies it where sparse updates went before, and may wait for a lock of the failing step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

from oom_forensics.in_training.keepers.heap import Look

# Smaller ones do not fill a device.
_LEAST_BYTES = 1024
# The largest are looked at.
_MOST_TENSORS = 20_000

AddressOf = Callable[[Any], int]
"""`CollectorLibrary.tensor_address`."""


class LiveTensor(NamedTuple):
    """A tensor that Python holds, or the variable that it is the value of."""

    holder: int
    """The id of the EagerTensor or the variable."""
    address: int
    size_bytes: int


class LiveTensors:
    """The tensors that a look at the heap finds. It holds none of them."""

    def __init__(self, address_of: AddressOf) -> None:
        from tensorflow.python.framework.ops import EagerTensor
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        self._address_of = address_of
        # By address. What keeps a variable keeps its value: the variable is the better holder.
        self._tensors: dict[int, LiveTensor] = {}
        self._variables: dict[int, LiveTensor] = {}
        self._handle_type = EagerTensor
        self.looks: dict[type, Look] = {
            EagerTensor: self._see_tensor,
            BaseResourceVariable: self._see_variable,
        }
        """For `Heap`."""

    def by_size(self) -> list[LiveTensor]:
        """Returns those of at least 1 KiB, the largest first; one for each address."""
        found = {**self._tensors, **self._variables}.values()
        return sorted(found, key=lambda each: -each.size_bytes)[:_MOST_TENSORS]

    def _see_tensor(self, tensor: Any) -> None:
        self._see(tensor, tensor, self._tensors)

    def _see_variable(self, variable: Any) -> None:
        # The handle of a graph's variable leads nowhere.
        if type(handle := vars(variable).get("_handle")) is self._handle_type:
            value = _Value(variable._dtype, variable._shape)
            self._see(variable, handle, self._variables, value)

    def _see(
        self, holder: Any, tensor: Any, found: dict[int, LiveTensor], value: _Value | None = None
    ) -> None:
        with contextlib.suppress(Exception):
            # First: of a tensor that waits for its memory TensorFlow's attributes lead nowhere.
            if address := self._address_of(tensor):
                described = value or tensor
                size_bytes = described.dtype.size * (described.shape.num_elements() or 0)
                if size_bytes >= _LEAST_BYTES:
                    found.setdefault(address, LiveTensor(id(holder), address, size_bytes))


class _Value(NamedTuple):
    dtype: Any
    shape: Any
