"""The parts of a loop's body that need not run in turn with the other iterations.

TensorFlow begins up to `parallel_iterations` iterations of a loop at a time: whatever needs
only the loop's counter, as the slice of an input for a time step and its product with the
weights, is computed that far ahead, and held until its iteration comes. In a backward pass
the loop takes what the forward one kept from the lists that far ahead.

What no later iteration waits for may run that far behind, and its inputs are held: a product
for a weight's gradient of each iteration, until it is added to the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oom_forensics.in_training.step_forecast.graph_nodes import Graph
from oom_forensics.in_training.step_forecast.tensors import Tensor

# They hand their first input on, or the list that it is.
_QUICK = frozenset({"Identity", "TensorListPopBack", "TensorListPushBack"})


class EarlyPart(NamedTuple):
    """What runs ahead.

    Attributes:
      nodes: Of the body, by index.
      variables: Numbers of the loop's variables that these nodes make for the next iteration.
    """

    nodes: frozenset[int]
    variables: Sequence[int]


class LatePart(NamedTuple):
    """What runs behind: sums over all iterations, as those of a weight's gradient.

    Attributes:
      others: Nodes of the body that do not, by index; None: all.
      variables: Numbers of the loop's variables of which only their own next value is made.
    """

    others: frozenset[int] | None
    variables: Sequence[int]


NOTHING_LATE = LatePart(None, ())
ALL_IN_TURN = EarlyPart(frozenset(), ())


def early_part(condition: Graph, body: Graph, state: Sequence[Tensor]) -> EarlyPart:
    """Returns what runs ahead; ALL_IN_TURN where the condition waits for each iteration.

    `state`: the loop's variables before it. What changes from one iteration to the next is
    a counter where it is one number; lists are quickly lengthened and shortened, too.
    """
    variables = [
        i
        for i, result in enumerate(body.results)
        if _is_handed_on(body, result, body.arguments[i]) or state[i].shape == ()
    ]
    while True:
        nodes = _reached_from(body, [body.arguments[i] for i in variables])
        early = [i for i in variables if body.results[i][0] in nodes]
        if early == variables:
            break
        variables = early
    decided = _reached_from(condition, [condition.arguments[i] for i in variables])
    if any(node not in decided for node, _ in condition.results):
        return ALL_IN_TURN
    return EarlyPart(frozenset(nodes), variables)


def late_part(condition: Graph, body: Graph, early: EarlyPart) -> LatePart:
    """Returns what no other part of a later iteration waits for."""
    variables: list[int] = []
    nodes: set[int] = set()
    for i, (result, _) in enumerate(body.results):
        if i in early.variables or condition.nodes[condition.arguments[i]].after:
            continue
        fed = _fed_by(body, body.arguments[i])
        feeds_others = any(other in fed for j, (other, _) in enumerate(body.results) if j != i)
        if result in fed and not feeds_others:
            variables.append(i)
            nodes |= fed
    if not variables:
        return NOTHING_LATE
    return LatePart(frozenset(range(len(body.nodes))) - nodes, variables)


def _fed_by(graph: Graph, argument: int) -> set[int]:
    """The argument, and the nodes that wait for it."""
    fed = {argument}
    ready = [argument]
    while ready:
        for follower in graph.nodes[ready.pop()].after:
            if follower not in fed:
                fed.add(follower)
                ready.append(follower)
    return fed


def _is_handed_on(body: Graph, result: tuple[int, int], argument: int) -> bool:
    node = result[0]
    while body.nodes[node].op in _QUICK:
        node = body.nodes[node].inputs[0][0]
    return node == argument


def _reached_from(graph: Graph, arguments: Sequence[int]) -> set[int]:
    """The nodes that wait for no other argument than these."""
    waits = [node.waits_for for node in graph.nodes]
    others = set(graph.arguments) - set(arguments)
    reached: set[int] = set()
    ready = [i for i, count in enumerate(waits) if count == 0 and i not in others]
    while ready:
        i = ready.pop()
        reached.add(i)
        for follower in graph.nodes[i].after:
            waits[follower] -= 1
            if waits[follower] == 0:
                ready.append(follower)
    return reached
