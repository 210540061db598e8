"""Where the datasets were made whose elements tf.data's own threads make.

A batch is put together by a thread that Python does not know, outside of any op: all that
is recorded of it is how many bytes it asked for. That is what the element of a dataset is
known by, as its shape, its type and the size of a batch are.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from oom_forensics.in_training.in_place import call_after
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.frames import Frame, Stack, stack_of

# The kinds that ask for the memory of what they yield. Others hand on what they were given,
# or run a function of the user's, whose ops have names.
_MAKES_ELEMENTS = (
    "BatchDataset",
    "ParallelBatchDataset",
    "PaddedBatchDataset",
    "TensorSliceDataset",
    "UnbatchDataset",
    "RebatchDataset",
)
# Smaller elements do not fill a device, and many things have their size.
_LEAST_BYTES = 1024
_MOST_DATASETS = 1000


class _Made(NamedTuple):
    alive: weakref.ref[Any]
    sizes: tuple[int, ...]
    at: Stack
    line: Frame
    """The user's innermost one."""


class DataPipelines:
    """Knows the datasets of this process from the moment it watches."""

    def __init__(self, origin: CodeOrigin) -> None:
        self._origin = origin
        # A dataset may be gone when the run is written in which it was read.
        self._made: deque[_Made] = deque(maxlen=_MOST_DATASETS)

    def watch(self, module: ModuleType) -> None:
        """Learns where each `module.DatasetV2` is made."""

        def remember(dataset: Any, *_: Any, **__: Any) -> None:
            if type(dataset).__name__.lstrip("_") in _MAKES_ELEMENTS:
                self._remember(dataset, sys._getframe(2))

        call_after(module.DatasetV2, "__init__", remember)

    def sizes(self) -> Iterator[tuple[int, Stack]]:
        """Yields the bytes of what datasets ask for, and where these were made.

        What datasets of different lines ask for alike is left out, unless only one of
        them is alive.
        """
        by_size: dict[int, list[_Made]] = {}
        for made in list(self._made):
            for size_bytes in made.sizes:
                by_size.setdefault(size_bytes, []).append(made)
        for size_bytes, candidates in by_size.items():
            alive = [made for made in candidates if made.alive() is not None]
            if len({made.line for made in alive or candidates}) == 1:
                yield size_bytes, (alive or candidates)[-1].at

    def _remember(self, dataset: Any, frame: FrameType) -> None:
        stack = stack_of(frame, self._origin)
        line = next((frame for frame in stack if frame.is_user), None)
        sizes = tuple(_element_bytes(dataset))
        if line is not None and sizes:
            self._made.append(_Made(weakref.ref(dataset), sizes, stack, line))


def _element_bytes(dataset: Any) -> Iterator[int]:
    """Yields the size of each tensor of an element, as far as it is known."""
    from tensorflow.python.framework import tensor
    from tensorflow.python.util import nest

    batch_size = constant_of(getattr(dataset, "_batch_size", None))
    for spec in nest.flatten(dataset.element_spec):
        if type(spec) is not tensor.TensorSpec or spec.shape.rank is None:
            continue
        sizes = spec.shape.as_list()
        # The last batch may be smaller, and so the shape does not tell.
        if sizes and sizes[0] is None:
            sizes[0] = batch_size
        size_bytes = spec.dtype.size
        for size in sizes:
            size_bytes *= size or 0
        if size_bytes >= _LEAST_BYTES:
            yield size_bytes


def constant_of(tensor: Any) -> Any:
    """The value of a constant tensor, of a text in bytes; None where there is none."""
    from tensorflow.python.framework import tensor_util

    value: Any = None if tensor is None else tensor_util.constant_value(tensor)
    return value.item() if hasattr(value, "item") else value
