"""Ops on dense tensors: which outputs are new memory, and what scratch they take."""

from __future__ import annotations

from oom_forensics.in_training.step_forecast import kernel_rules as rules
from oom_forensics.in_training.step_forecast.conv_scratch import conv_scratch, has_own_kernels
from oom_forensics.in_training.step_forecast.graph_nodes import Node
from oom_forensics.in_training.step_forecast.memory import Memory
from oom_forensics.in_training.step_forecast.shapes import ShapeFunctions
from oom_forensics.in_training.step_forecast.tensors import (
    Buffer,
    Shape,
    Tensor,
    bytes_of,
    elements_of,
)

# Rows that begin at a multiple of it can be shared (Eigen's alignment).
_ALIGNMENT_BYTES = 64
_INT64 = 9
_FLOAT = 1
_BFLOAT16 = 14


class DenseKernels:
    """Runs one op at a time."""

    def __init__(self, memory: Memory, shapes: ShapeFunctions) -> None:
        self._memory = memory
        self._shapes = shapes

    def run(self, node: Node, inputs: list[Tensor]) -> tuple[list[Tensor], list[Buffer]]:
        """Returns the outputs, and the scratch that is freed when the op is done."""
        answer = self._shapes.outputs(node, inputs)
        if answer is None:
            self._memory.unknown.add((node.name, node.op))
            return [Tensor(1, None) for _ in range(_outputs_of(node))], []
        outputs = [Tensor(dtype, shape, None, value) for dtype, shape, value in answer]
        scratch = self._scratch(node, inputs, outputs)
        for i, output in enumerate(outputs):
            shared = _shared_input(node, inputs, outputs, i)
            if shared is not None:
                output.buffer = inputs[shared].buffer
                if output.value is None and inputs[shared].shape == output.shape:
                    output.value = inputs[shared].value
                # A handle goes on to mean the same.
                output.variable = inputs[shared].variable
                output.items = inputs[shared].items
                continue
            taken = _taken_input(node, inputs, output, i, outputs)
            if taken is not None:
                output.buffer = taken
                continue
            output.buffer = self._memory.allocate(node.name, node.op, output.dtype, output.shape)
        return outputs, scratch

    def _scratch(self, node: Node, inputs: list[Tensor], outputs: list[Tensor]) -> list[Buffer]:
        wanted: list[tuple[int, Shape]] = []
        if node.op == "Einsum":
            wanted = _einsum_scratch(node, inputs, outputs)
        elif "MatMul" in node.op and inputs and inputs[0].dtype == _BFLOAT16:
            wanted = _product_in_float32(inputs, outputs)
        elif node.op == "MaxPoolGrad" and len(inputs) > 1:
            pooled = inputs[1]
            wanted = [(_INT64, pooled.shape), (pooled.dtype, pooled.shape)]
        elif node.op.endswith("SoftmaxCrossEntropyWithLogits"):
            wanted = [(inputs[0].dtype, outputs[0].shape)]
        elif node.op in rules.REDUCTIONS and _is_shuffled(inputs, outputs):
            wanted = [(inputs[0].dtype, inputs[0].shape)]
        made = [self._memory.allocate(node.name, node.op, dtype, shape) for dtype, shape in wanted]
        made += [
            self._memory.allocate(node.name, node.op, dtype, shape, fixed=True)
            for dtype, shape in conv_scratch(node, inputs, outputs)
        ]
        return [buffer for buffer in made if buffer is not None]


def _outputs_of(node: Node) -> int:
    return max(node.consumers, default=0) + 1


def _shared_input(node: Node, inputs: list[Tensor], outputs: list[Tensor], i: int) -> int | None:
    """The input whose buffer the output is, or is a part of."""
    if not inputs:
        return None
    if node.op == "IdentityN":
        return i
    first = 1 if node.op == "Split" else 0
    if len(inputs) <= first:
        return None
    whole, part = inputs[first], outputs[i]
    if node.op in rules.SHARES_FIRST_INPUT:
        return first
    if node.op == "Cast" and whole.dtype == part.dtype:
        return first
    if node.op in ("Transpose", "ConjugateTranspose") and _only_ones_move(inputs):
        return first
    if node.op in rules.SHARES_WHERE_SAME_SHAPE and whole.shape == part.shape:
        return first if elements_of(whole.shape) is not None else None
    if node.op in rules.REDUCTIONS and elements_of(whole.shape) == elements_of(part.shape):
        return first if elements_of(whole.shape) not in (None, 1) else None
    if node.op == "Pack" and _number_of(node, "N") == 1:
        return first
    if node.op in rules.SHARES_ROWS and _takes_rows(node, whole, part):
        return first
    return None


def _only_ones_move(inputs: list[Tensor]) -> bool:
    shape, order = inputs[0].shape, inputs[1].value
    if shape is None or order is None or order.size != len(shape):
        return False
    long = [int(axis) for axis in order.flatten() if shape[int(axis)] != 1]
    return long == sorted(long)


def _takes_rows(node: Node, whole: Tensor, part: Tensor) -> bool:
    """Whether only the first dimension is cut, and at aligned addresses."""
    if not whole.shape or part.shape is None:
        return False
    rest: Shape = part.shape if node.op == "Unpack" else part.shape[1:]
    if node.op == "Unpack" and _number_of(node, "axis") != 0:
        return False
    if node.op == "StridedSlice" and len(part.shape) == len(whole.shape) - 1:
        rest = part.shape
    row_bytes = bytes_of(whole.dtype, rest)
    return whole.shape[1:] == rest and row_bytes is not None and row_bytes % _ALIGNMENT_BYTES == 0


def _taken_input(
    node: Node, inputs: list[Tensor], output: Tensor, i: int, outputs: list[Tensor]
) -> Buffer | None:
    if node.op not in rules.FORWARDS or i != rules.FORWARDED_OUTPUT.get(node.op, 0):
        return None
    given = {id(each.buffer) for each in outputs if each.buffer is not None}
    for index in rules.FORWARDED_INPUTS.get(node.op, range(len(inputs))):
        each = inputs[index]
        if (
            each.buffer is not None
            and each.buffer.number is not None
            and each.buffer.references == 1
            and id(each.buffer) not in given
            and each.dtype == output.dtype
            and each.shape == output.shape
        ):
            return each.buffer
    return None


def _number_of(node: Node, name: str) -> int:
    return int(node.attributes[name].i) if name in node.attributes else 0


def _is_shuffled(inputs: list[Tensor], outputs: list[Tensor]) -> bool:
    """Whether the axes alternate too often to be summed where they lie."""
    shape = inputs[0].shape
    axes = inputs[1].value if len(inputs) > 1 else None
    if shape is None or axes is None or outputs[0].shape is None:
        return False
    reduced = {int(axis) % max(1, len(shape)) for axis in axes.flatten()}
    turns = 0
    last: bool | None = None
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if (axis in reduced) != last:
            last = axis in reduced
            turns += 1
    return turns > 3


def _product_in_float32(inputs: list[Tensor], outputs: list[Tensor]) -> list[tuple[int, Shape]]:
    """TensorFlow's own product of bfloat16 matrices on a CPU casts them, and the result back."""
    if not has_own_kernels():
        return []
    return [(_FLOAT, each.shape) for each in (*inputs[:2], outputs[0])]


def _einsum_scratch(
    node: Node, inputs: list[Tensor], outputs: list[Tensor]
) -> list[tuple[int, Shape]]:
    """Operands and the product in an order that a matrix product takes, where not so yet.

    As tensorflow/core/kernels/linalg/einsum_op_impl.h does: dimensions are sorted into
    batch, free and contracted ones; a product whose order differs is transposed at the end.
    """
    equation = node.attributes["equation"].s.decode()
    if "." in equation or "->" not in equation:
        return []
    left, result = equation.replace(" ", "").split("->")
    operands = left.split(",")
    if len(operands) != 2 or len(inputs) != 2:
        return []
    wanted: list[tuple[int, Shape]] = []
    free: list[str] = []
    batch = [c for c in operands[0] if c in operands[1] and c in result]
    for labels, other, tensor in zip(operands, operands[::-1], inputs, strict=True):
        own = [c for c in labels if c not in other]
        contracted = [c for c in labels if c in other and c not in result]
        here = [c for c in labels if c in batch]
        orders = (here + own + contracted, here + contracted + own)
        if list(labels) not in [list(order) for order in orders]:
            wanted.append((tensor.dtype, tensor.shape))
        free += own
    if list(result) != batch + free:
        wanted.append((outputs[0].dtype, outputs[0].shape))
    return wanted
