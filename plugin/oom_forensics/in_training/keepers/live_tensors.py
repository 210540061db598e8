"""The eager tensors and variables of this process, each with where its memory lies.

The collector reads the addresses out of memory. No op runs: an op that reads a variable
copies it where sparse updates went before, and may wait for a lock of the failing step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers.heap import Heap

# Smaller ones do not fill a device.
_LEAST_BYTES = 1024
# The largest are looked at.
_MOST_TENSORS = 20_000

AddressOf = Callable[[Any], int]
"""`CollectorLibrary.tensor_address`."""


class LiveTensor(NamedTuple):
    """A tensor that Python holds, or the variable that it is the value of."""

    holder: Any
    """The EagerTensor or the variable. Hold it for the moment only."""
    address: int
    size_bytes: int


def live_tensors(heap: Heap, deadline: Deadline, address_of: AddressOf) -> list[LiveTensor]:
    """Returns the tensors of at least 1 KiB, the largest first; one for each address."""
    found: dict[int, LiveTensor] = {}
    # What keeps a variable keeps its value: the variable is the better holder.
    for holder, tensor, described in [
        *_values_of(heap.variables),
        *((each, each, each) for each in heap.tensors),
    ]:
        if deadline.passed:
            break
        with contextlib.suppress(Exception):
            # First: of a tensor that waits for its memory TensorFlow's attributes lead nowhere.
            if address := address_of(tensor):
                size_bytes = described.dtype.size * (described.shape.num_elements() or 0)
                if size_bytes >= _LEAST_BYTES:
                    found.setdefault(address, LiveTensor(holder, address, size_bytes))
    by_size = sorted(found.values(), key=lambda each: -each.size_bytes)
    return by_size[:_MOST_TENSORS]


class _Value(NamedTuple):
    dtype: Any
    shape: Any


def _values_of(variables: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yields each variable with its handle, and the type and shape of its value."""
    from tensorflow.python.framework.ops import EagerTensor

    for variable in variables:
        # The handle of a graph's variable leads nowhere.
        if type(handle := vars(variable).get("_handle")) is EagerTensor:
            yield variable, handle, _Value(variable._dtype, variable._shape)
