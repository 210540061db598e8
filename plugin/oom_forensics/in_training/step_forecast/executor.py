"""Runs a graph with tensors that have no data, and notes the requests it makes.

As TensorFlow's executor does: an op runs once its inputs are there, an output is kept until
its last reader has run, loops go round as often as their condition says.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence, Set
from typing import Any

from oom_forensics.in_training.evidence.trace_file import ModuleName
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.step_forecast import graph_nodes, prepared_graph
from oom_forensics.in_training.step_forecast import kernel_rules as rules
from oom_forensics.in_training.step_forecast.compiled_modules import run_of
from oom_forensics.in_training.step_forecast.dense_kernels import DenseKernels
from oom_forensics.in_training.step_forecast.early_part import (
    ALL_IN_TURN,
    NOTHING_LATE,
    early_part,
    late_part,
)
from oom_forensics.in_training.step_forecast.graph_nodes import Graph, Node
from oom_forensics.in_training.step_forecast.graph_run import GraphRun
from oom_forensics.in_training.step_forecast.list_kernels import ListKernels
from oom_forensics.in_training.step_forecast.memory import Memory, Requests
from oom_forensics.in_training.step_forecast.orders import Order
from oom_forensics.in_training.step_forecast.shapes import ShapeFunctions, carries_value
from oom_forensics.in_training.step_forecast.tensors import (
    Buffer,
    Shape,
    Tensor,
    bytes_of,
    elements_of,
)
from oom_forensics.in_training.step_forecast.variable_kernels import VariableKernels

_LOOPS = frozenset({"While", "StatelessWhile"})
_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "RemoteCall"})
_MAX_ITERATIONS = 100_000
_INT64 = 9
# The time that an op takes, in bytes read or written: a fixed part to start it, and a factor for
# products, which work longer on each byte.
_START_COST_BYTES = 20_000
_PRODUCT_COST = 8
# The clock is looked at once in so many ops.
_OPS_BETWEEN_LOOKS = 64
# The pool of a GPU: "GPU_1_bfc", "gpu_async_1".
_GPU_POOL = re.compile(r"(?:GPU|gpu_async)_(\d+)")


class OutOfTimeError(Exception):
    """The forecast was given up at its deadline."""


class Library:
    """The graphs of a prepared step, read once for all orders."""

    def __init__(self, graph_def: Any, compiled: Mapping[str, ModuleName] | None = None) -> None:
        """`compiled`: by the name of a function that XLA compiles, its module."""
        from tensorflow.python.framework import importer, ops

        self.compiled = compiled or {}

        self.main = graph_nodes.of_graph_def(graph_def, prepared_graph.FETCH_PREFIX)
        self._definitions = {f.signature.name: f for f in graph_def.library.function}
        self._graphs: dict[str, Graph] = {}
        self._scratch = ops.Graph()
        self.shapes = ShapeFunctions()
        only_library = type(graph_def)()
        only_library.library.CopyFrom(graph_def.library)
        only_library.versions.CopyFrom(graph_def.versions)
        with self._scratch.as_default():
            importer.import_graph_def(only_library, name="")

    def function(self, name: str) -> Graph | None:
        """The body of a function."""
        if name not in self._graphs and name in self._definitions:
            self._graphs[name] = graph_nodes.of_function(self._definitions[name], self._scratch)
        return self._graphs.get(name)

    def updating_scopes(self) -> list[str]:
        """The scopes of the main graph in which variables are written: those of optimizers."""
        names = [
            node.name
            for node in self.main.nodes
            if node.op.startswith((rules.APPLIES, "Assign")) and "/" in node.name
        ]
        return sorted({name[: name.rindex("/") + 1] for name in names})

    def constant_bytes(self) -> int:
        """Of the constants of the main graph, which its kernels hold from the start."""
        total = 0
        for node in self.main.nodes:
            if node.op == "Const":
                tensor = _constant(node)
                total += bytes_of(tensor.dtype, tensor.shape) or 0
        return total


class Executor:
    """One run of a step in one order."""

    def __init__(
        self,
        library: Library,
        order: Order,
        deadline: Deadline | None = None,
        element_shapes: Sequence[Shape] = (),
        new_arguments: Set[str] = frozenset(),
        allocator: str = "",
    ) -> None:
        """Makes one.

        Args:
          library: The graphs.
          order: Of the ops of the main one.
          deadline: None takes as long as it takes.
          element_shapes: Of what an iterator gives, where the graph leaves it open.
          new_arguments: Names of the nodes of arguments that are not there before the step.
          allocator: Whose requests are counted, "GPU_1_bfc"; empty: those of all devices.
        """
        self._library = library
        self._order = order.of_this_process()
        self._deadline = deadline
        self._element_shapes = element_shapes
        self._new_arguments = new_arguments
        pool = _GPU_POOL.match(allocator)
        self._gpu = int(pool[1]) if pool else None
        self._ops = 0
        self.memory = Memory()
        self.assumed: set[tuple[str, str]] = set()
        self._dense = DenseKernels(self.memory, library.shapes)
        self._variables = VariableKernels(self.memory)
        self._lists = ListKernels(self.memory)

    @property
    def ops_run(self) -> int:
        """How many ops ran, those of each round of a loop too."""
        return self._ops

    def run(self) -> Requests:
        """Runs the main graph.

        Raises:
          OutOfTimeError: The deadline has passed.
        """
        for result in self._run(self._library.main, [], self._order, consumes=False):
            self.memory.release(result)
        return Requests(self._order.name, self.memory.sites(), self.memory.events)

    def _run(
        self, graph: Graph, arguments: list[Tensor], order: Order, consumes: bool
    ) -> list[Tensor]:
        """Returns the results, each referred to once by the caller.

        Where it consumes the arguments, the caller's reference to each is given up as soon
        as the readers inside have theirs: they may then take its buffer.
        """
        run = GraphRun(graph, order, consumes)
        run.give(enumerate(arguments))
        self._advance(run)
        return run.results(range(len(graph.results)))

    def _advance(self, run: GraphRun, only: Set[int] | None = None) -> None:
        """Runs what can be run of a graph; of the nodes `only`, where there are some."""
        run.go_on()
        while True:
            for worker, i in run.begin(only):
                node = run.nodes[i]
                given = run.given.get(i)
                if given is not None:
                    made, scratch = [given], list[Buffer]()
                    inputs = made if run.consumes else []
                else:
                    inputs = [run.output(source) for source in node.inputs]
                    made, scratch, inputs = self._start(node, inputs, run.order)
                run.began(worker, i, _cost_bytes(node, [*inputs, *made]), inputs, made, scratch)
            ended = run.next_end()
            if ended is None:
                return
            for index, tensor in enumerate(ended.made):
                # A reference of our own while we look whether there is a reader.
                self.memory.retain(tensor, run.readers(ended.node, index) + 1)
                self.memory.release(tensor)
            for buffer in ended.scratch:
                self.memory.free(buffer)
            for tensor in ended.inputs:
                self.memory.release(tensor)
            run.ended(ended)

    def _start(
        self, node: Node, inputs: list[Tensor], order: Order
    ) -> tuple[list[Tensor], list[Buffer], list[Tensor]]:
        """Returns outputs, scratch, and the inputs to let go of at the op's end."""
        self._ops += 1
        if self._ops % _OPS_BETWEEN_LOOKS == 0 and self._deadline and self._deadline.passed:
            raise OutOfTimeError
        called = self._control_flow(node, inputs, order)
        if called is not None:
            return called, [], []
        self.memory.is_here = self._is_here(node)
        made = self._known(node, inputs)
        if made is not None:
            return made, [], inputs
        return (*self._dense.run(node, inputs), inputs)

    def _is_here(self, node: Node) -> bool:
        """What no GPU is named for is counted; without a GPU, all runs on what there is."""
        return self._gpu is None or not node.gpus or self._gpu in node.gpus

    def _known(self, node: Node, inputs: list[Tensor]) -> list[Tensor] | None:
        if node.op in ("NoOp", "Assert", "ControlTrigger"):
            return []
        if node.op == "Const":
            return [_constant(node)]
        if node.op == "Placeholder":
            return [self._argument(node)]
        if node.op == "VarHandleOp":
            return [self._variables.handle(node)]
        if node.op in ("IteratorGetNext", "IteratorGetNextSync"):
            return self._next_element(node)
        if node.op == "IteratorGetNextAsOptional":
            return [self._lists.optional(self._next_element(node))]
        if node.op.startswith("CollectiveReduce") and self._gpu is not None:
            # With several GPUs TensorFlow was seen to move tensors to the host and back, and to
            # hold a third more than the ops ask for: the forecast is too low.
            self.memory.unknown.add((node.name, node.op))
        if node.op == "TemporaryVariable":
            return [self._temporary(node)]
        if node.op in rules.SHARES_TEMPORARY:
            return inputs[:1]
        if node.op == "Where" and elements_of(inputs[0].shape) is not None:
            return [self._all_chosen(node, inputs[0])]
        made = self._variables.run(node, inputs)
        return self._lists.run(node, inputs) if made is None else made

    def _argument(self, node: Node) -> Tensor:
        dtype, shape = node.attributes["dtype"].type, _shape(node.attributes["shape"].shape)
        buffer: Buffer | None = Buffer(None)
        if node.name in self._new_arguments:
            buffer = self.memory.allocate(node.name, node.op, dtype, shape)
        if buffer is not None:
            # The caller's own.
            buffer.references = 1
        return Tensor(dtype, shape, buffer)

    def _temporary(self, node: Node) -> Tensor:
        """What TensorFlow's optimizer adds up gradients in, instead of AddN."""
        dtype, shape = node.attributes["dtype"].type, _shape(node.attributes["shape"].shape)
        return Tensor(dtype, shape, self.memory.allocate(node.name, node.op, dtype, shape))

    def _all_chosen(self, node: Node, condition: Tensor) -> Tensor:
        """The most that a condition can choose: the values decide how much of it."""
        shape = (elements_of(condition.shape), len(condition.shape or ()))
        self.assumed.add((node.name, "that a condition is true everywhere"))
        return Tensor(_INT64, shape, self.memory.allocate(node.name, node.op, _INT64, shape))

    def _control_flow(self, node: Node, inputs: list[Tensor], order: Order) -> list[Tensor] | None:
        """Runs what is in functions of its own; None: it is not such an op."""
        one = order.within_an_op()
        if node.op in _LOOPS:
            return self._loop(node, inputs, one)
        if node.op in _BRANCHES:
            return self._branch(node, inputs, one)
        name = node.attributes["f"].func.name if node.op in _CALLS else node.op
        if name in self._library.compiled:
            return self._run_compiled(self._library.compiled[name], node, inputs)
        body = self._library.function(name)
        if body is None:
            return None
        return self._hand_on(self._run(body, inputs, one, consumes=True))

    def _run_compiled(self, module: ModuleName, node: Node, inputs: list[Tensor]) -> list[Tensor]:
        """All that XLA asks for at once; what it updates takes the place of what was."""
        if self._is_here(node):
            self.memory.free(self.memory.ask(run_of(module)))
        for tensor in inputs:
            self.memory.release(tensor)
        return [Tensor(1, None) for _ in range(max(node.consumers, default=0) + 1)]

    def _hand_on(self, results: list[Tensor]) -> list[Tensor]:
        """The reference that a result came with goes over to those who read it."""
        for tensor in results:
            if tensor.items is not None:
                tensor.items.references -= 1
            elif tensor.buffer is not None:
                tensor.buffer.references -= 1
        return results

    def _branch(self, node: Node, inputs: list[Tensor], order: Order) -> list[Tensor] | None:
        if "branches" in node.attributes:
            names = [f.name for f in node.attributes["branches"].list.func]
        else:
            names = [node.attributes[b].func.name for b in ("else_branch", "then_branch")]
        choice = inputs[0].value
        if choice is None:
            self.assumed.add((node.name, "which branch is taken"))
            taken = len(names) - 1
        else:
            taken = min(max(int(choice), 0), len(names) - 1)
        body = self._library.function(names[taken])
        if body is None:
            return None
        results = self._run(body, inputs[1:], order, consumes=True)
        self.memory.release(inputs[0])
        return self._hand_on(results)

    def _loop(self, node: Node, inputs: list[Tensor], order: Order) -> list[Tensor] | None:
        condition = self._library.function(node.attributes["cond"].func.name)
        body = self._library.function(node.attributes["body"].func.name)
        if condition is None or body is None:
            return None
        early = early_part(condition, body, inputs) if order.loops_ahead else ALL_IN_TURN
        late = late_part(condition, body, early) if order.loops_behind else NOTHING_LATE
        most = max(node.attributes["parallel_iterations"].i, 1)
        most_begun = most if early.variables else 1
        most_behind = most if late.variables else 1
        in_turn = [i for i in range(len(inputs)) if i not in (*early.variables, *late.variables)]
        # Of early variables the value for the next iteration to begin, of others that for the
        # next one to go on, of late ones that for the next one to end.
        state = list(inputs)
        begun: deque[GraphRun] = deque()
        behind: deque[GraphRun] = deque()
        goes_on = True
        for _ in range(_MAX_ITERATIONS):
            while goes_on and len(begun) < most_begun and len(begun) + len(behind) < most:
                (answer,) = self._run(condition, state, order, consumes=False)
                known = answer.value
                self.memory.release(answer)
                goes_on = known is not None and bool(known)
                if known is None:
                    self.assumed.add((node.name, "how often a loop goes round"))
                elif not goes_on:
                    break
                begun.append(GraphRun(body, order, consumes=True))
                if early.variables:
                    self._go_on(begun[-1], early.variables, state, early.nodes)
            if begun:
                behind.append(begun.popleft())
                self._go_on(behind[-1], in_turn, state, late.others)
            elif not behind:
                break
            if len(behind) == most_behind or not (begun or goes_on):
                self._go_on(behind.popleft(), late.variables, state, None)
        return self._hand_on(state)

    def _go_on(
        self, run: GraphRun, variables: Sequence[int], state: list[Tensor], only: Set[int] | None
    ) -> None:
        """Runs a part of an iteration: from the values of variables to their next ones."""
        run.give((i, state[i]) for i in variables)
        self._advance(run, only)
        for i, tensor in zip(variables, run.results(variables), strict=True):
            state[i] = tensor

    def _next_element(self, node: Node) -> list[Tensor]:
        types = list(node.attributes["output_types"].list.type)
        shapes: Sequence[Shape] = self._element_shapes
        if len(shapes) != len(types):
            shapes = [_shape(each) for each in node.attributes["output_shapes"].list.shape]
        if self._order.fetches_next:
            for dtype, shape in zip(types, shapes, strict=True):
                # Nobody in this step gives it back.
                self.memory.allocate(node.name, node.op, dtype, shape)
        return [
            Tensor(t, s, self.memory.allocate(node.name, node.op, t, s))
            for t, s in zip(types, shapes, strict=True)
        ]


def _cost_bytes(node: Node, tensors: Sequence[Tensor]) -> int:
    touched = sum(bytes_of(each.dtype, each.shape) or 0 for each in tensors)
    is_product = any(word in node.op for word in rules.PRODUCTS)
    return _START_COST_BYTES + touched * (_PRODUCT_COST if is_product else 1)


def _constant(node: Node) -> Tensor:
    from tensorflow.python.framework import tensor_util

    proto = node.attributes["value"].tensor
    shape = tuple(int(dim.size) for dim in proto.tensor_shape.dim)
    value = tensor_util.MakeNdarray(proto) if carries_value(proto.dtype, shape) else None
    # The kernel holds it from step to step.
    return Tensor(proto.dtype, shape, Buffer(None, 1), value)


def _shape(proto: Any) -> Shape:
    if proto.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else int(dim.size) for dim in proto.dim)
