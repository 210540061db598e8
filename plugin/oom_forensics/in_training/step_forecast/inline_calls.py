"""Replaces calls by the bodies of the called functions, as TensorFlow's runtime does.

Grappler, asked from outside, leaves calls alone; an executor that ran them one by one would
know fewer orders than TensorFlow has.
"""

from __future__ import annotations

from typing import Any

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# Functions that call themselves would never end.
_MAX_CALLS = 5000


def inline_calls(graph: Any) -> None:
    """Changes the GraphDef `graph`, whose library has the functions."""
    from tensorflow.python.framework import function_def_to_graph, importer, ops

    definitions = {f.signature.name: f for f in graph.library.function}
    scratch = ops.Graph()
    library = type(graph)()
    library.library.CopyFrom(graph.library)
    library.versions.CopyFrom(graph.versions)
    with scratch.as_default():
        importer.import_graph_def(library, name="")
    for _ in range(_MAX_CALLS):
        call = next((n for n in graph.node if _is_inlined(n, definitions)), None)
        if call is None:
            return
        definition = definitions[call.attr["f"].func.name]
        with scratch.as_default():
            body, names = function_def_to_graph.function_def_to_graph_def(definition)
        _replace(graph, call, definition, body, names)


def _is_inlined(node: Any, definitions: dict[str, Any]) -> bool:
    if node.op not in _CALLS:
        return False
    definition = definitions.get(node.attr["f"].func.name)
    return definition is not None and not definition.attr["_XlaMustCompile"].b


def _replace(graph: Any, call: Any, definition: Any, body: Any, names: dict[str, str]) -> None:
    prefix = call.name + "/"
    data = [each for each in call.input if not each.startswith("^")]
    controls = [each for each in call.input if each.startswith("^")]
    arguments = dict(zip((a.name for a in definition.signature.input_arg), data, strict=True))
    if controls:
        _no_op(graph, prefix + "before_call", controls, call.device)
    for node in body.node:
        if node.name in arguments:
            continue
        copy = graph.node.add()
        copy.CopyFrom(node)
        copy.name = prefix + node.name
        copy.device = node.device or call.device
        copy.input[:] = [_moved(each, arguments, prefix) for each in node.input]
        if controls and not copy.input:
            copy.input.append("^" + prefix + "before_call")
    results = [
        _moved(names[definition.ret[r.name]], arguments, prefix)
        for r in definition.signature.output_arg
    ]
    ends = ["^" + _node_of(r) for r in results]
    ends += ["^" + prefix + name for name in definition.control_ret.values()]
    done = prefix + "after_call"
    _no_op(graph, done, list(dict.fromkeys(ends)), call.device)
    name = call.name
    graph.node.remove(call)
    for node in graph.node:
        for i, each in enumerate(node.input):
            if each == "^" + name:
                node.input[i] = "^" + done
            elif _node_of(each) == name and not each.startswith("^"):
                _, _, output = each.partition(":")
                node.input[i] = results[int(output or 0)]


def _no_op(graph: Any, name: str, controls: list[str], device: str) -> None:
    node = graph.node.add(name=name, op="NoOp", device=device)
    node.input.extend(controls)


def _moved(tensor: str, arguments: dict[str, str], prefix: str) -> str:
    if tensor.startswith("^"):
        source = arguments.get(tensor[1:])
        return "^" + (prefix + tensor[1:] if source is None else _node_of(source))
    node = _node_of(tensor)
    return arguments.get(node) or prefix + tensor


def _node_of(tensor: str) -> str:
    return tensor.lstrip("^").partition(":")[0]
