"""Tensors without data: a shape, who shares the buffer, and small values where known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Bytes of an element by TensorFlow's DataType number. Resources and variants are handles
# (the buffers that a list holds are counted by themselves).
ELEMENT_BYTES = {
    1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 7: 24, 8: 8, 9: 8, 10: 1, 11: 1, 12: 1, 13: 4, 14: 2,
    15: 2, 16: 2, 17: 2, 18: 16, 19: 2, 22: 4, 23: 8, 24: 1, 25: 1,
}  # fmt: skip
RESOURCE = 20
VARIANT = 21

Shape = tuple[int | None, ...] | None


@dataclass(eq=False)
class Buffer:
    """Memory that tensors share.

    Attributes:
      number: Of the request that made it; None: it was there before the step.
      references: Inputs that ops still wait for, and lists and variables that hold it.
    """

    number: int | None
    references: int = 0


@dataclass(eq=False)
class Variable:
    """A variable: its buffer lives on from step to step."""

    dtype: int
    shape: Shape
    buffer: Buffer
    # Sparse ops set it: then each read copies, and updates happen in place.
    copy_on_read: bool = False


@dataclass(eq=False)
class TensorList:
    """What a variant tensor holds: the tensors of a list, None where not set yet.

    Attributes:
      references: As of a buffer; the list itself holds its items' buffers once each.
    """

    element_dtype: int
    element_shape: Shape
    items: list[Tensor | None] = field(default_factory=list)
    references: int = 0


@dataclass(eq=False)
class Tensor:
    """A tensor on its way from op to op.

    Attributes:
      buffer: None where it takes no memory worth counting, or its size is not known.
      value: Its numbers, where they decide shapes or loops.
    """

    dtype: int
    shape: Shape
    buffer: Buffer | None = None
    value: np.ndarray[Any, Any] | None = None
    variable: Variable | None = None
    items: TensorList | None = None


def elements_of(shape: Shape) -> int | None:
    """How many numbers; None: not known."""
    if shape is None:
        return None
    elements = 1
    for size in shape:
        if size is None:
            return None
        elements *= size
    return elements


def bytes_of(dtype: int, shape: Shape) -> int | None:
    """What TensorFlow asks its allocator for; None: not known."""
    elements = elements_of(shape)
    if elements is None:
        return None
    # References to variables (DT_..._REF) are 100 above their type.
    return elements * ELEMENT_BYTES.get(dtype % 100, 0)
