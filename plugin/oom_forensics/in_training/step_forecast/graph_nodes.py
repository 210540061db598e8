"""A GraphDef, or the body of a function in it, as nodes that can be walked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

# Attributes that say nothing about shapes.
_SILENT = ("_", "shared_name", "container")
# Of a VarHandleOp (prepared_graph): variables with the same number share their buffer, which
# has so many references.
BUFFER = "_oom_forensics_buffer"
REFERENCES = "_oom_forensics_references"
_GPU = re.compile(r"device:GPU:(\d+)")


@dataclass(eq=False)
class Node:
    """An op of a graph.

    Attributes:
      inputs: Index of the node and of its output.
      consumers: For each output, the indices of the nodes that read it, once per input.
      after: Indices of the nodes that wait for it, by data or control, once per edge.
      waits_for: How many such edges lead here.
      gpus: Numbers of the GPUs that need its outputs: its own, or where the graph gives it to
        none, those of its readers, to which they are copied. Empty: the graph names none.
    """

    name: str
    op: str
    attributes: dict[str, Any]
    attributes_key: Any
    inputs: list[tuple[int, int]] = field(default_factory=list)
    control_inputs: list[int] = field(default_factory=list)
    consumers: dict[int, int] = field(default_factory=dict)
    after: list[int] = field(default_factory=list)
    waits_for: int = 0
    gpus: frozenset[int] = frozenset()


@dataclass(eq=False)
class Graph:
    """Nodes in the order of the file, and the tensors that it returns."""

    nodes: list[Node]
    # Index of the placeholder of each argument.
    arguments: list[int]
    results: list[tuple[int, int]]


def of_graph_def(graph_def: Any, result_prefix: str) -> Graph:
    """The main graph; its results are the nodes with that prefix."""
    results = sorted(
        (node.name for node in graph_def.node if node.name.startswith(result_prefix)),
        key=lambda name: int(name[len(result_prefix) :]),
    )
    return _graph(graph_def, [], [f"{name}:0" for name in results])


def of_function(definition: Any, scratch: Any) -> Graph:
    """The body of a function; `scratch` is a tf.Graph that knows the functions it calls."""
    from tensorflow.python.framework import function_def_to_graph

    with scratch.as_default():
        body, names = function_def_to_graph.function_def_to_graph_def(definition)
    arguments = [argument.name for argument in definition.signature.input_arg]
    results = [names[definition.ret[r.name]] for r in definition.signature.output_arg]
    return _graph(body, arguments, results)


def _graph(graph_def: Any, arguments: list[str], results: list[str]) -> Graph:
    index = {node.name: i for i, node in enumerate(graph_def.node)}
    nodes = [_node(node) for node in graph_def.node]
    for i, source in enumerate(graph_def.node):
        node = nodes[i]
        for each in source.input:
            if each.startswith("^"):
                node.control_inputs.append(index[each[1:]])
            else:
                node.inputs.append(_tensor(each, index))
        node.waits_for = len(node.inputs) + len(node.control_inputs)
        for producer, output in node.inputs:
            consumers = nodes[producer].consumers
            consumers[output] = consumers.get(output, 0) + 1
            nodes[producer].after.append(i)
        for producer in node.control_inputs:
            nodes[producer].after.append(i)
    _hand_back_gpus(nodes)
    return Graph(nodes, [index[name] for name in arguments], [_tensor(r, index) for r in results])


def _hand_back_gpus(nodes: list[Node]) -> None:
    """Gives what the graph places nowhere to the GPUs of its readers, the last ones first."""
    is_placed = [bool(node.gpus) for node in nodes]
    unread = [sum(node.consumers.values()) for node in nodes]
    done = [i for i, readers in enumerate(unread) if readers == 0]
    for i in done:
        for producer, _ in nodes[i].inputs:
            if not is_placed[producer]:
                nodes[producer].gpus |= nodes[i].gpus
            unread[producer] -= 1
            if unread[producer] == 0:
                done.append(producer)


def _tensor(name: str, index: dict[str, int]) -> tuple[int, int]:
    node, _, output = name.partition(":")
    return index[node], int(output or 0)


def _node(source: Any) -> Node:
    attributes = {
        k: v for k, v in source.attr.items() if not k.startswith("_") or k in (BUFFER, REFERENCES)
    }
    key = tuple(
        (name, attributes[name].SerializeToString(deterministic=True))
        for name in sorted(attributes)
        if not name.startswith(_SILENT)
    )
    gpu = _GPU.search(source.device)
    return Node(
        source.name,
        source.op,
        attributes,
        key,
        gpus=frozenset([int(gpu[1])] if gpu else []),
    )
