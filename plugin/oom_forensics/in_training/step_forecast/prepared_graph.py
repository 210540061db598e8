"""TensorFlow's optimized graph of a step's function.

The body of the function becomes a graph whose inputs have the real shapes: arguments
become placeholders, captured variables a VarHandleOp with the shape of the variable
(without which Grappler knows nothing of what is read from them). Control flow stays
functional: a loop is then one node with a body, which can be iterated.
"""

from __future__ import annotations

from typing import Any

from oom_forensics.in_training.step_forecast.graph_nodes import BUFFER, REFERENCES
from oom_forensics.in_training.step_forecast.inline_calls import inline_calls
from oom_forensics.in_training.step_forecast.legacy_calls import name_calls
from oom_forensics.in_training.step_forecast.step_function import Argument, StepFunction

_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_VARIABLE_PREFIX = "oom_forensics_variable_"
_ARGUMENT_PREFIX = "oom_forensics_argument_"
FETCH_PREFIX = "oom_forensics_result_"
# What an argument is, and what it is to Grappler. Of a Placeholder Grappler makes a whole
# tensor, from the memory that was just refused, and does not look whether it got it.
_ARGUMENT = "Placeholder"
_ARGUMENT_FOR_GRAPPLER = "FakeParam"


def prepare(step: StepFunction, optimize: bool = True) -> Any:
    """Returns a GraphDef whose nodes are those of the step, calls inlined."""
    from tensorflow.core.framework import function_pb2, graph_pb2
    from tensorflow.core.protobuf import meta_graph_pb2
    from tensorflow.python.framework import function_def_to_graph, importer, ops

    library = graph_pb2.GraphDef()
    library.versions.producer = 1980
    for serialized in step.definitions.values():
        library.library.function.add().CopyFrom(function_pb2.FunctionDef.FromString(serialized))
    name_calls(library.library)
    definition = next(f for f in library.library.function if f.signature.name == step.name)
    with ops.Graph().as_default():
        importer.import_graph_def(library, name="")
        body, names = function_def_to_graph.function_def_to_graph_def(definition)
    inputs = [argument.name for argument in definition.signature.input_arg]
    graph = graph_pb2.GraphDef()
    graph.versions.CopyFrom(library.versions)
    graph.library.CopyFrom(library.library)
    renamed: dict[str, str] = {}
    variables: dict[str, str] = {}
    for i, (name, argument) in enumerate(zip(inputs, step.arguments, strict=True)):
        renamed[name] = _add_input(graph, i, argument, variables)
    _share_buffers(graph, step.one_buffer, variables)
    for node in body.node:
        if node.name not in renamed:
            copied = graph.node.add()
            copied.CopyFrom(node)
            copied.input[:] = [_renamed(each, renamed) for each in node.input]
    meta = meta_graph_pb2.MetaGraphDef()
    fetches = meta.collection_def["train_op"].node_list.value
    for i, result in enumerate(definition.signature.output_arg):
        fetch = graph.node.add(name=f"{FETCH_PREFIX}{i}", op="Identity")
        fetch.input.append(_renamed(names[definition.ret[result.name]], renamed))
        fetch.attr["T"].type = result.type
        fetches.append(fetch.name)
    inline_calls(graph)
    alive = {node.name for node in graph.node}
    for name in definition.control_ret.values():
        fetches.append(name if name in alive else f"{name}/after_call")
    for node in [*graph.node, *(n for f in graph.library.function for n in f.node_def)]:
        node.device = node.device or _CPU
        _keep_functional(node)
    if not optimize:
        return graph
    meta.graph_def.CopyFrom(graph)
    return _optimize(meta)


def _renamed(tensor: str, names: dict[str, str]) -> str:
    control = tensor.startswith("^")
    node, colon, output = tensor.lstrip("^").partition(":")
    return ("^" if control else "") + names.get(node, node) + colon + output


def argument_name(index: int) -> str:
    """The name of the node that stands for an argument which is no variable."""
    return f"{_ARGUMENT_PREFIX}{index}"


def _add_input(graph: Any, index: int, argument: Argument, variables: dict[str, str]) -> str:
    if argument.variable is not None:
        known = variables.get(argument.shared_name)
        if known is not None:
            return known
        dtype, shape = argument.variable
        node = graph.node.add(name=f"{_VARIABLE_PREFIX}{index}", op="VarHandleOp", device=_CPU)
        node.attr["dtype"].type = dtype
        _set_shape(node.attr["shape"].shape, shape)
        node.attr["shared_name"].s = node.name.encode()
        node.attr["container"].s = b""
        variables[argument.shared_name] = node.name
        return str(node.name)
    node = graph.node.add(name=argument_name(index), op=_ARGUMENT, device=_CPU)
    node.attr["dtype"].type = argument.dtype
    _set_shape(node.attr["shape"].shape, argument.shape)
    return str(node.name)


def _share_buffers(
    graph: Any, groups: tuple[tuple[str, ...], ...], variables: dict[str, str]
) -> None:
    """Marks the handles of variables that lie in one buffer as yet."""
    handles = {node.name: node for node in graph.node if node.op == "VarHandleOp"}
    for number, group in enumerate(groups):
        of_step = [handles[variables[name]] for name in group if name in variables]
        for handle in of_step:
            handle.attr[BUFFER].i = number
            handle.attr[REFERENCES].i = len(group)


def _set_shape(proto: Any, shape: tuple[int | None, ...] | None) -> None:
    proto.SetInParent()
    if shape is None:
        proto.unknown_rank = True
        return
    for size in shape:
        proto.dim.add(size=-1 if size is None else size)


def _optimize(meta: Any) -> Any:
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.grappler import tf_optimizer

    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.min_graph_nodes = -1
    arguments = [node for node in meta.graph_def.node if node.op == _ARGUMENT]
    names = {node.name for node in arguments}
    for node in arguments:
        node.op = _ARGUMENT_FOR_GRAPPLER
    optimized = tf_optimizer.OptimizeGraph(config, meta, verbose=False)
    for node in optimized.node:
        if node.name in names:
            node.op = _ARGUMENT
    return optimized


def _keep_functional(node: Any) -> None:
    """Lets Grappler not take loops and branches apart."""
    if "_lower_using_switch_merge" in node.attr:
        node.attr["_lower_using_switch_merge"].b = False
