"""One run of a graph on its way: what has begun, what has ended, and who gets which output."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from oom_forensics.in_training.step_forecast import kernel_rules as rules
from oom_forensics.in_training.step_forecast.graph_nodes import Graph
from oom_forensics.in_training.step_forecast.orders import Order, queue_of
from oom_forensics.in_training.step_forecast.tensors import Buffer, Tensor, bytes_of

# Which of two ops that run at a time ends first: a thread may have to wait.
_SLOWEST = 2.0
# What a thread works on longer than it takes to hand it over (8,000 cycles).
_EXPENSIVE_BYTES = 32 << 10


class RunningOp(NamedTuple):
    """An op that has begun: when it ends, how many began before it, who runs it."""

    end: float
    number: int
    worker: int
    node: int
    inputs: list[Tensor]
    made: list[Tensor]
    scratch: list[Buffer]


class GraphRun:
    """The state of one run.

    Attributes:
      given: Arguments, by the index of their node.
      consumes: The caller's reference to each argument is given up as soon as the readers
        inside have theirs: they may then take its buffer.
    """

    def __init__(self, graph: Graph, order: Order, consumes: bool) -> None:
        self.nodes = graph.nodes
        self.order = order
        self.consumes = consumes
        self.given: dict[int, Tensor] = {}
        self._graph = graph
        self._waits = [node.waits_for for node in graph.nodes]
        self._outputs: list[list[Tensor] | None] = [None] * len(graph.nodes)
        self._kept: dict[tuple[int, int], int] = {}
        for result in graph.results:
            self._kept[result] = self._kept.get(result, 0) + 1
        self._ready = queue_of(order, self._is_expensive)
        self._ready.made_ready(None, [i for i, count in enumerate(self._waits) if count == 0])
        self._later: list[int] = []
        self._running: list[RunningOp] = []
        self._idle = list(range(order.workers))
        self._pace = random.Random(order.seed)
        self._clock = 0.0
        self._started = 0

    def give(self, arguments: Iterable[tuple[int, Tensor]]) -> None:
        """Sets arguments, by their number."""
        for number, tensor in arguments:
            self.given[self._graph.arguments[number]] = tensor

    def results(self, numbers: Iterable[int]) -> list[Tensor]:
        """Returns results, each referred to once by the caller."""
        return [self.output(self._graph.results[number]) for number in numbers]

    def output(self, source: tuple[int, int]) -> Tensor:
        """Returns what a node has made; a tensor of no known size where it made none."""
        node, index = source
        made = self._outputs[node]
        if made is None or index >= len(made):
            return Tensor(1, None)
        return made[index]

    def readers(self, node: int, index: int) -> int:
        """Returns how often an output is read, the caller's reading of results included."""
        return self.nodes[node].consumers.get(index, 0) + self._kept.get((node, index), 0)

    def go_on(self) -> None:
        """Takes up what was not among the nodes that could begin."""
        self._ready.made_ready(None, self._later)
        self._later = []

    def begin(self, only: Set[int] | None) -> Iterator[tuple[int, int]]:
        """Yields a worker and the node that it begins, as long as one is idle and one is ready.

        Nodes that are not among `only` wait until the run goes on.
        """
        # Who has just ended an op goes on first.
        for worker in reversed(self._idle[:]):
            i = self._next_of(worker, only)
            if i is not None:
                self._idle.remove(worker)
                yield worker, i

    def began(
        self,
        worker: int,
        node: int,
        cost: float,
        inputs: list[Tensor],
        made: list[Tensor],
        scratch: list[Buffer],
    ) -> None:
        """Notes what an op works on, and how long as others go."""
        end = self._clock + cost * self._pace.uniform(1.0, _SLOWEST)
        op = RunningOp(end, self._started, worker, node, inputs, made, scratch)
        heapq.heappush(self._running, op)
        self._started += 1

    def next_end(self) -> RunningOp | None:
        """Returns the op that ends next, its outputs there for who reads them; None: none runs."""
        if not self._running:
            return None
        op = heapq.heappop(self._running)
        self._clock = op.end
        self._idle.append(op.worker)
        self._outputs[op.node] = op.made
        return op

    def ended(self, op: RunningOp) -> None:
        """Lets those go on that waited for an op."""
        followers = []
        for follower in self.nodes[op.node].after:
            self._waits[follower] -= 1
            if self._waits[follower] == 0:
                followers.append(follower)
        self._ready.made_ready(op.worker, followers)

    def _next_of(self, worker: int, only: Set[int] | None) -> int | None:
        while (i := self._ready.next_of(worker)) is not None:
            if only is None or i in only:
                return i
            self._later.append(i)
        return None

    def _is_expensive(self, node: int) -> bool:
        """Whether TensorFlow's executor thinks an op, whose inputs are there, worth a thread."""
        if self.nodes[node].op in rules.CHEAP:
            return False
        if not self.order.is_warm:
            return True
        return any(
            (bytes_of(tensor.dtype, tensor.shape) or 0) >= _EXPENSIVE_BYTES
            for tensor in map(self.output, self.nodes[node].inputs)
        )
