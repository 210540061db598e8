"""Output shapes of ops, by TensorFlow's own shape functions, and small values.

An op is built in a graph of its own: a placeholder for each input, or a constant where the
input's value is known. TensorFlow then says the shapes, and evaluates what is constant
(in C++, with the kernels of the op, outside the pools that we watch). Nothing runs on a
device. Answers are kept: the same question comes again in every iteration of a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from oom_forensics.in_training.step_forecast.tensors import (
    Shape,
    Tensor,
    elements_of,
)

# Larger values decide no shape, and are not carried along.
_MAX_VALUE_ELEMENTS = 64
# bool, int32, int64, and the small others that shape arithmetic passes through.
_VALUE_DTYPES = frozenset({3, 9, 10, 4, 5, 6, 22, 23})
# A graph is thrown away before it becomes large.
_OPS_OF_A_GRAPH = 2000
# Their values differ from call to call.
_RANDOM = ("Random", "Multinomial", "StatelessTruncated")

Answer = list[tuple[int, Shape, "np.ndarray[Any, Any] | None"]]


class ShapeFunctions:
    """Answers for one forecast; not for use by two threads."""

    def __init__(self) -> None:
        self._known: dict[Any, Answer | None] = {}
        self._graph: Any = None
        self._ops = 0

    def outputs(self, node: Any, inputs: Sequence[Tensor]) -> Answer | None:
        """Returns dtype, shape and value of each output; None where TensorFlow refuses."""
        quick = _quick(node, inputs)
        if quick is not None:
            return quick
        key = (node.op, node.attributes_key, tuple(_key(each) for each in inputs))
        if key not in self._known:
            try:
                self._known[key] = self._ask(node, inputs)
            except (ValueError, TypeError, RuntimeError, NotImplementedError, KeyError):
                self._known[key] = None
        return self._known[key]

    def _ask(self, node: Any, inputs: Sequence[Tensor]) -> Answer:
        from tensorflow.python.framework import dtypes, ops, tensor_util

        if self._graph is None or self._ops > _OPS_OF_A_GRAPH:
            self._graph = ops.Graph()
            self._ops = 0
        graph = self._graph
        self._ops += 1 + len(inputs)
        fed = []
        for each in inputs:
            dtype = dtypes.as_dtype(each.dtype)
            if each.value is not None:
                attributes = {
                    "value": _attribute(tensor=tensor_util.make_tensor_proto(each.value, dtype)),
                    "dtype": _attribute(type=each.dtype),
                }
                fed.append(_output(graph, "Const", [], [dtype], attributes))
            else:
                attributes = {
                    "dtype": _attribute(type=each.dtype),
                    "shape": _attribute(shape=_shape_proto(each.shape)),
                }
                fed.append(_output(graph, "Placeholder", [], [dtype], attributes))
        op = graph._create_op_internal(
            node.op, fed, dtypes=None, name="op", attrs=dict(node.attributes), compute_device=False
        )
        known = all(each.value is not None for each in inputs)
        evaluates = known and not any(word in node.op for word in _RANDOM)
        answer: Answer = []
        for index, output in enumerate(op.outputs):
            shape = None if output.shape.rank is None else tuple(output.shape.as_list())
            dtype = int(output.dtype.as_datatype_enum)
            value = None
            # What has few numbers at most, and what does not say how many.
            open_shape = dtype in _VALUE_DTYPES and elements_of(shape) is None
            if evaluates and (open_shape or carries_value(dtype, shape)):
                value = tensor_util.try_evaluate_constant(output)
                if value is not None:
                    shape = value.shape
                    value = value if carries_value(dtype, shape) else None
            elif carries_value(dtype, shape):
                value = _shape_as_value(node, inputs, index, dtype)
            answer.append((dtype, shape, value))
        return answer


def carries_value(dtype: int, shape: Shape) -> bool:
    """Whether the values of such a tensor are followed."""
    elements = elements_of(shape)
    return dtype in _VALUE_DTYPES and elements is not None and elements <= _MAX_VALUE_ELEMENTS


def _shape_as_value(
    node: Any, inputs: Sequence[Tensor], output: int, dtype: int
) -> np.ndarray[Any, Any] | None:
    """Of ops that tell of a tensor's shape, not of its numbers."""
    if output >= len(inputs) or node.op not in ("Rank", "Shape", "ShapeN", "Size"):
        return None
    shape = inputs[output].shape
    kind = np.int64 if dtype == 9 else np.int32
    if shape is None:
        return None
    if node.op == "Rank":
        return np.array(len(shape), kind)
    if None in shape:
        return None
    return np.array(elements_of(shape) if node.op == "Size" else shape, kind)


def _quick(node: Any, inputs: Sequence[Tensor]) -> Answer | None:
    """The arithmetic of loop counters, which comes in each iteration again."""
    function = _SCALAR.get(node.op)
    if function is None or len(inputs) != 2:
        return None
    a, b = inputs
    if a.value is None or b.value is None or a.shape != () or b.shape != ():
        return None
    value = np.asarray(function(a.value, b.value))
    return [(10 if value.dtype == np.bool_ else a.dtype, (), value)]


_SCALAR = {
    "AddV2": np.add,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "Minimum": np.minimum,
    "Maximum": np.maximum,
}


def _key(tensor: Tensor) -> Any:
    value = tensor.value
    return (tensor.dtype, tensor.shape, None if value is None else (value.shape, value.tobytes()))


def _output(graph: Any, kind: str, fed: list[Any], types: list[Any], attributes: Any) -> Any:
    op = graph._create_op_internal(kind, fed, types, attrs=attributes, compute_device=False)
    return op.outputs[0]


def _attribute(**field: Any) -> Any:
    from tensorflow.core.framework import attr_value_pb2

    return attr_value_pb2.AttrValue(**field)


def _shape_proto(shape: Shape) -> Any:
    from tensorflow.python.framework import tensor_shape

    return tensor_shape.TensorShape(shape).as_proto()
