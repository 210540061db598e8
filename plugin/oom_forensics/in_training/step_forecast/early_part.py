"""The part of a loop's body that does not wait for the iteration before it.

TensorFlow begins up to `parallel_iterations` iterations of a loop at a time: whatever needs
only the loop's counter, as the slice of an input for a time step and its product with the
weights, is computed that far ahead, and held until its iteration comes. In a backward pass
the loop takes what the forward one kept from the lists that far ahead.
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
