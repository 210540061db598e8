"""Ops on variants that hold tensors: TensorLists, in which loops keep what their backward pass
needs, and the optionals in which an iterator gives its elements to tf.distribute."""

from __future__ import annotations

import numpy as np

from oom_forensics.in_training.step_forecast.graph_nodes import Node
from oom_forensics.in_training.step_forecast.memory import Memory
from oom_forensics.in_training.step_forecast.tensors import (
    VARIANT,
    Shape,
    Tensor,
    TensorList,
)

_BOOL = 10
_INT32 = 3


class ListKernels:
    """Runs the ops on variants that hold tensors."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def run(self, node: Node, inputs: list[Tensor]) -> list[Tensor] | None:
        """Returns the outputs; None: this is no op on lists, or of one that is not known."""
        run = getattr(self, f"_{node.op}", None)
        if run is not None:
            made: list[Tensor] | None = run(node, inputs)
            return made
        like = inputs[0].items if inputs else None
        if node.op in ("ZerosLike", "AddN") and like is not None:
            return [self._like(node, like)]
        return None

    def optional(self, element: list[Tensor]) -> Tensor:
        """An optional with a value."""
        made = TensorList(VARIANT, None)
        for each in element:
            self._append(made, each)
        return _list(made)

    def _OptionalFromValue(self, _: Node, inputs: list[Tensor]) -> list[Tensor]:  # noqa: N802
        return [self.optional(inputs)]

    def _OptionalNone(self, _: Node, inputs: list[Tensor]) -> list[Tensor]:  # noqa: N802
        del inputs
        return [_list(TensorList(VARIANT, None))]

    def _OptionalHasValue(self, _: Node, inputs: list[Tensor]) -> list[Tensor] | None:  # noqa: N802
        if inputs[0].items is None:
            return None
        return [Tensor(_BOOL, (), None, np.array(bool(inputs[0].items.items)))]

    def _OptionalGetValue(self, _: Node, inputs: list[Tensor]) -> list[Tensor] | None:  # noqa: N802
        items = inputs[0].items
        return None if items is None else [item for item in items.items if item is not None] or None

    def _like(self, node: Node, like: TensorList) -> Tensor:
        made = TensorList(like.element_dtype, like.element_shape)
        for item in like.items:
            shape = like.element_shape if item is None else item.shape
            self._append(made, self._new(node, like.element_dtype, shape))
        return _list(made)

    def _EmptyTensorList(self, node: Node, inputs: list[Tensor]) -> list[Tensor]:  # noqa: N802
        return [_list(TensorList(node.attributes["element_dtype"].type, _shape(inputs[0])))]

    def _TensorListReserve(  # noqa: N802
        self, node: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        if inputs[1].value is None:
            return None
        made = TensorList(node.attributes["element_dtype"].type, _shape(inputs[0]))
        made.items = [None] * int(inputs[1].value)
        return [_list(made)]

    def _TensorListPushBack(  # noqa: N802
        self, _: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        if inputs[0].items is None:
            return None
        items = self._own(inputs[0].items)
        self._append(items, inputs[1])
        return [_list(items)]

    def _TensorListPopBack(  # noqa: N802
        self, node: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        if inputs[0].items is None or not inputs[0].items.items:
            return None
        items = self._own(inputs[0].items)
        last = items.items.pop()
        if last is None:
            return [_list(items), self._new(node, items.element_dtype, items.element_shape)]
        if last.buffer is not None and last.items is None:
            # The list's reference goes on to those who read the output.
            last.buffer.references -= 1
        elif last.items is not None:
            last.items.references -= 1
        return [_list(items), last]

    def _TensorListSetItem(  # noqa: N802
        self, _: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        if inputs[0].items is None or inputs[1].value is None:
            return None
        items = self._own(inputs[0].items)
        index = int(inputs[1].value)
        while len(items.items) <= index:
            items.items.append(None)
        old = items.items[index]
        items.items[index] = _plain(inputs[2])
        self._memory.retain(inputs[2])
        if old is not None:
            self._memory.release(old)
        return [_list(items)]

    def _TensorListGetItem(  # noqa: N802
        self, node: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        items = inputs[0].items
        if items is None:
            return None
        index = 0 if inputs[1].value is None else int(inputs[1].value)
        if index >= len(items.items):
            return None
        item = items.items[index]
        return [item or self._new(node, items.element_dtype, items.element_shape)]

    def _TensorListStack(self, node: Node, inputs: list[Tensor]) -> list[Tensor] | None:  # noqa: N802
        items = inputs[0].items
        if items is None:
            return None
        shape = _element_shape(items)
        stacked = None if shape is None else (len(items.items), *shape)
        return [self._new(node, items.element_dtype, stacked)]

    def _TensorListFromTensor(  # noqa: N802
        self, node: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        whole = inputs[0]
        if not whole.shape or whole.shape[0] is None:
            return None
        row = whole.shape[1:]
        made = TensorList(whole.dtype, row)
        for _ in range(whole.shape[0]):
            # The kernel copies each, however it lies.
            self._append(made, self._new(node, whole.dtype, row))
        return [_list(made)]

    def _TensorListLength(self, _: Node, inputs: list[Tensor]) -> list[Tensor] | None:  # noqa: N802
        items = inputs[0].items
        if items is None:
            return None
        return [Tensor(_INT32, (), None, np.array(len(items.items), np.int32))]

    def _TensorListElementShape(  # noqa: N802
        self, node: Node, inputs: list[Tensor]
    ) -> list[Tensor] | None:
        items = inputs[0].items
        shape = None if items is None else _element_shape(items)
        if shape is None:
            return None
        dtype = node.attributes["shape_type"].type
        sizes = [-1 if size is None else size for size in shape]
        value = np.array(sizes, np.int32 if dtype == _INT32 else np.int64)
        return [Tensor(dtype, (len(sizes),), None, value)]

    def _own(self, items: TensorList) -> TensorList:
        """The list itself where only this op has it, else a copy of it."""
        if items.references <= 1:
            # The op's input is let go of after it: the output's references come on top.
            return items
        copy = TensorList(items.element_dtype, items.element_shape)
        for item in items.items:
            if item is None:
                copy.items.append(None)
            else:
                self._append(copy, item)
        return copy

    def _append(self, items: TensorList, tensor: Tensor) -> None:
        items.items.append(_plain(tensor))
        self._memory.retain(tensor)

    def _new(self, node: Node, dtype: int, shape: Shape) -> Tensor:
        return Tensor(dtype, shape, self._memory.allocate(node.name, node.op, dtype, shape))


def _list(items: TensorList) -> Tensor:
    return Tensor(VARIANT, (), items=items)


def _plain(tensor: Tensor) -> Tensor:
    return Tensor(tensor.dtype, tensor.shape, tensor.buffer, tensor.value, None, tensor.items)


def _shape(tensor: Tensor) -> Shape:
    """A shape that a tensor holds the sizes of; a scalar says that it is not known."""
    if tensor.value is None or tensor.value.ndim != 1:
        return None
    return tuple(None if size < 0 else int(size) for size in tensor.value)


def _element_shape(items: TensorList) -> Shape:
    for item in items.items:
        if item is not None and item.shape is not None:
            return item.shape
    shape = items.element_shape
    return None if shape is None or None in shape else shape
