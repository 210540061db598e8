"""Ops on variables: reads share the variable's buffer, writes copy it while it is read."""

from __future__ import annotations

import numpy as np

from oom_forensics.in_training.step_forecast import kernel_rules as rules
from oom_forensics.in_training.step_forecast.graph_nodes import BUFFER, REFERENCES, Node
from oom_forensics.in_training.step_forecast.memory import Memory
from oom_forensics.in_training.step_forecast.tensors import (
    RESOURCE,
    Buffer,
    Tensor,
    Variable,
    elements_of,
)

_BOOL = 10
_INT64 = 9


class VariableKernels:
    """Runs the ops whose input is the handle of a variable."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._variables: dict[str, Variable] = {}
        # Of variables that share one, by its number.
        self._shared: dict[int, Buffer] = {}

    def handle(self, node: Node) -> Tensor:
        """Runs a VarHandleOp."""
        variable = self._variables.get(node.name)
        if variable is None:
            shape_proto = node.attributes["shape"].shape
            shape = (
                None
                if shape_proto.unknown_rank
                else tuple(None if d.size < 0 else int(d.size) for d in shape_proto.dim)
            )
            variable = Variable(node.attributes["dtype"].type, shape, self._buffer_of(node))
            self._variables[node.name] = variable
        return Tensor(RESOURCE, (), variable=variable)

    def _buffer_of(self, node: Node) -> Buffer:
        """What a variable has before the step, which is one reference to it."""
        if BUFFER not in node.attributes:
            return Buffer(None, 1)
        references = int(node.attributes[REFERENCES].i)
        return self._shared.setdefault(int(node.attributes[BUFFER].i), Buffer(None, references))

    def run(self, node: Node, inputs: list[Tensor]) -> list[Tensor] | None:
        """Returns the outputs; None: this is no op on variables."""
        variable = inputs[0].variable if inputs else None
        if node.op.startswith((rules.APPLIES, *rules.SPARSE_UPDATES)):
            sparse = not node.op.startswith(rules.APPLIES)
            for each in inputs:
                if each.variable is not None:
                    self._make_writable(node, each.variable)
                    each.variable.copy_on_read |= sparse
            return []
        if variable is None:
            return None
        if node.op == "ReadVariableOp":
            return [self._read(node, variable)]
        if node.op in rules.UPDATES_IN_PLACE:
            self._make_writable(node, variable)
            return []
        if node.op == "AssignVariableOp":
            self._assign(node, variable, inputs[1])
            return []
        if node.op == "VariableShape" and elements_of(variable.shape) is not None:
            shape = np.array(variable.shape, np.int32)
            return [Tensor(3, (len(shape),), None, shape)]
        if node.op in ("VarIsInitializedOp", "IsVariableInitialized"):
            return [Tensor(_BOOL, (), None, np.array(True))]
        if node.op == "ResourceGather":
            return [self._gather(node, variable, inputs[1])]
        if node.op in ("DestroyResourceOp", "DisableCopyOnRead"):
            return []
        if node.op == "Identity":
            return [inputs[0]]
        return None

    def _read(self, node: Node, variable: Variable) -> Tensor:
        if variable.copy_on_read:
            made = self._memory.allocate(node.name, node.op, variable.dtype, variable.shape)
            return Tensor(variable.dtype, variable.shape, made)
        return Tensor(variable.dtype, variable.shape, variable.buffer)

    def _gather(self, node: Node, variable: Variable, indices: Tensor) -> Tensor:
        if not variable.copy_on_read:
            # It becomes one whose reads copy; that takes a copy if it is read just now.
            self._make_writable(node, variable)
            variable.copy_on_read = True
        shape = None
        if indices.shape is not None and variable.shape is not None:
            shape = (*indices.shape, *variable.shape[1:])
        made = self._memory.allocate(node.name, node.op, variable.dtype, shape)
        return Tensor(variable.dtype, shape, made)

    def _make_writable(self, node: Node, variable: Variable) -> None:
        if variable.buffer.references > 1:
            copy = self._memory.allocate(node.name, node.op, variable.dtype, variable.shape)
            self._replace(variable, copy)

    def _assign(self, node: Node, variable: Variable, value: Tensor) -> None:
        if variable.copy_on_read:
            made = self._memory.allocate(node.name, node.op, value.dtype, value.shape)
            self._replace(variable, made)
        elif value.buffer is not None and value.buffer.number is not None:
            # The variable takes the tensor as it is, buffer and all.
            self._replace(variable, value.buffer)

    def _replace(self, variable: Variable, new: Buffer | None) -> None:
        """The variable has another buffer now.

        Its old one was there before the step, so its free cannot be written as that of a
        request. Both have the same size: what is written is the free of the new one, at the
        moment when the old one goes.
        """
        if new is None:
            return
        new.references += 1
        old = variable.buffer
        old.references -= 1
        if old.number is None:
            old.number, new.number = new.number, None
        if old.references == 0:
            self._memory.free(old)
        variable.buffer = new
