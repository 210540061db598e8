"""The shapes of what an iterator gives to a step, where the graph leaves them open.

A function that takes an iterator is traced with what the pipeline says of its elements, in
which the batch is often open. The batch is then asked of the objects that the frames of the
call hold: Keras' data adapter, or the dataset that batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from oom_forensics.in_training.source.frames import look_at_locals
from oom_forensics.in_training.step_forecast.step_function import StepFunction

_MOST_FRAMES = 60
_MOST_DATASETS = 30


def with_element_shapes(step: StepFunction, frame: FrameType | None) -> StepFunction:
    """Returns the step with the shapes of its iterator's elements, if it takes one."""
    iterator, batch = iterator_of(frame)
    if iterator is None:
        return step
    shapes = tuple(_shapes_of(iterator.element_spec, batch))
    return replace(step, element_shapes=shapes, batch=batch)


def element_specs(frame: FrameType | None) -> Any:
    """What the iterator in a stack of frames gives, as specs whose batch is filled in."""
    iterator, batch = iterator_of(frame)
    return None if iterator is None else filled_specs(iterator.element_spec, batch)


def filled_specs(specs: Any, batch: int | None) -> Any:
    """The specs with open first dimensions filled in."""
    import tensorflow as tf

    def filled(spec: Any) -> Any:
        (shape,) = _shapes_of(spec, batch)
        return tf.TensorSpec(shape, spec.dtype)

    return tf.nest.map_structure(filled, specs)


def iterator_of(frame: FrameType | None) -> tuple[Any, int | None]:
    """The innermost iterator in a stack of frames, and its batch as far as it is told."""
    iterator: Any = None
    batch: int | None = None

    def look(names: dict[str, object]) -> None:
        nonlocal iterator, batch
        for value in names.values():
            kind = type(value).__name__
            if kind == "OwnedIterator" and iterator is None:
                iterator = value
            elif kind == "DistributedIterator" and iterator is None:
                iterator, batch = _of_one_replica(value)
            elif kind == "TFEpochIterator" and batch is None:
                batch = _whole(getattr(getattr(value, "data_adapter", None), "batch_size", None))

    for each in _frames(frame):
        look_at_locals(each, look)
    if batch is None and iterator is not None:
        batch = _batch_of(getattr(iterator, "_dataset", None))
    return iterator, batch


def _of_one_replica(distributed: Any) -> tuple[Any, int | None]:
    """What gives one of tf.distribute's replicas its elements, and how many examples at most.

    A part that this version of TensorFlow keeps elsewhere is not found: (None, None).
    """
    try:
        on_worker = distributed._iterators[0]
        iterator = on_worker._iterator._device_iterators[0]
    except (AttributeError, IndexError, TypeError):
        return None, None
    return iterator, _batch_of(getattr(on_worker, "_dataset", None))


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _shapes_of(spec: Any, batch: int | None) -> Iterator[tuple[int | None, ...] | None]:
    from tensorflow.python.util import nest

    for each in nest.flatten(spec):
        shape = getattr(each, "shape", None)
        if shape is None or shape.rank is None:
            yield None
            continue
        sizes = shape.as_list()
        if sizes and sizes[0] is None:
            sizes[0] = batch
        yield tuple(sizes)


def _batch_of(dataset: Any) -> int | None:
    """The size that the last `batch` of a pipeline makes, or tf.distribute makes of it."""
    for _ in range(_MOST_DATASETS):
        if dataset is None:
            return None
        for name in ("_batch_size", "_batch_sizes"):
            size = getattr(dataset, name, None)
            if size is not None:
                return _whole(size.numpy() if hasattr(size, "numpy") else size)
        dataset = getattr(dataset, "_input_dataset", None)
    return None


def _whole(value: Any) -> int | None:
    """The number, or the largest of several; None: it is not known, or not positive."""
    try:
        number = int(np.max(value))
    except (TypeError, ValueError, NotImplementedError):  # the last: a tensor of a graph
        return None
    return number if number > 0 else None
