"""The eager tensors and variables of this process, each with where its memory lies.

The address comes from DLPack: TensorFlow hands out a descriptor of the tensor's own
buffer, on CPUs and GPUs, without a copy. A variable's buffer is that of the tensor that
reading it gives, which shares it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers.heap import Heap

# Smaller ones do not fill a device.
_LEAST_BYTES = 1024
# The largest are looked at.
_MOST_TENSORS = 20_000

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


class LiveTensor(NamedTuple):
    """A tensor that Python holds, or the variable that it is the value of."""

    holder: Any
    """The EagerTensor or the variable. Hold it for the moment only."""
    address: int
    size_bytes: int


def live_tensors(heap: Heap, deadline: Deadline) -> list[LiveTensor]:
    """Returns the tensors of at least 1 KiB, the largest first; one for each address."""
    found: dict[int, LiveTensor] = {}
    # What keeps a variable keeps its value: the variable is the better holder.
    for holder, tensor in [
        *_values_of(heap.variables),
        *zip(heap.tensors, heap.tensors, strict=True),
    ]:
        if deadline.passed:
            break
        with contextlib.suppress(Exception):
            size_bytes = tensor.dtype.size * (tensor.shape.num_elements() or 0)
            if size_bytes >= _LEAST_BYTES and has_dlpack(tensor):
                address = address_of(tensor)
                found.setdefault(address, LiveTensor(holder, address, size_bytes))
    by_size = sorted(found.values(), key=lambda each: -each.size_bytes)
    return by_size[:_MOST_TENSORS]


def _values_of(variables: list[Any]) -> Iterator[tuple[Any, Any]]:
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import gen_resource_variable_ops

    for variable in variables:
        # No tape and no graph may hear of the read.
        with contextlib.suppress(Exception), ops.init_scope():
            handle = variable._handle
            if type(handle) is ops.EagerTensor:
                yield (
                    variable,
                    gen_resource_variable_ops.read_variable_op(handle, variable._dtype),
                )


def has_dlpack(tensor: Any) -> bool:
    """Whether DLPack knows its device: of another's tensor the attempt keeps a reference."""
    _, _, device = tensor.backing_device.rpartition("/device:")
    return device.partition(":")[0] in ("CPU", "GPU")


def address_of(tensor: Any) -> int:
    """Where the buffer of an eager tensor lies, of a device that `has_dlpack`."""
    from tensorflow.python import pywrap_tfe

    capsule = pywrap_tfe.TFE_ToDlpackCapsule(tensor)
    descriptor = _pointer_of(capsule, b"dltensor")
    # DLManagedTensor begins with a DLTensor: {void* data; DLDevice; int32 ndim; DLDataType;
    # int64* shape; int64* strides; uint64 byte_offset}.
    data = ctypes.c_uint64.from_address(descriptor).value
    byte_offset = ctypes.c_uint64.from_address(descriptor + 40).value
    return data + byte_offset
