"""The eager tensors and variables of this process, each with where its memory lies.

The collector reads the addresses out of memory. No op runs: an op that reads a variable
copies it where sparse updates went before, and may wait for a lock of the failing step.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers.objects import each_object

# Smaller ones do not fill a device.
_LEAST_BYTES = 1024
# The largest are looked at.
_MOST_TENSORS = 20_000


class LiveTensor(NamedTuple):
    """A tensor that Python holds, or the variable that it is the value of."""

    holder: int
    """The id of the EagerTensor or the variable."""
    address: int
    size_bytes: int
    is_variable: bool


def live_tensors(library: CollectorLibrary, deadline: Deadline) -> list[LiveTensor]:
    """Returns those of at least 1 KiB, the largest first; several may share an address."""
    from tensorflow.python.framework.ops import EagerTensor
    from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

    found: list[LiveTensor] = []
    for each in each_object(library, (EagerTensor, BaseResourceVariable), deadline):
        with contextlib.suppress(Exception):
            if type(each) is EagerTensor:
                tensor = described = each
            else:
                # The handle of a graph's variable leads nowhere.
                tensor = vars(each)["_handle"]
                if type(tensor) is not EagerTensor:
                    continue
                described = _Value(each._dtype, each._shape)
            # First: of a tensor that waits for its memory TensorFlow's attributes lead nowhere.
            if address := library.tensor_address(tensor):
                size_bytes = described.dtype.size * (described.shape.num_elements() or 0)
                if size_bytes >= _LEAST_BYTES:
                    found.append(LiveTensor(id(each), address, size_bytes, each is not tensor))
    return sorted(found, key=lambda each: -each.size_bytes)[:_MOST_TENSORS]


class _Value(NamedTuple):
    dtype: Any
    shape: Any
