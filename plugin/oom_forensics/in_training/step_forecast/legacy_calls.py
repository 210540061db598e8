"""Calls of functions that are written as ops of the function's own name.

Older parts of TensorFlow (`Defun`, as in the loops of `tf.nn.ctc_loss`) call functions so. To
Grappler, asked from outside, such an op is not registered: here it becomes a call by name.
"""

from __future__ import annotations

from typing import Any

_CALL = "StatefulPartitionedCall"


def name_calls(library: Any) -> None:
    """Changes the functions of the FunctionDefLibrary `library`."""
    signatures = {each.signature.name: each.signature for each in library.function}
    for function in library.function:
        outputs: dict[tuple[str, str], str] = {}
        for node in function.node_def:
            signature = signatures.get(node.op)
            if signature is None:
                continue
            for i, result in enumerate(signature.output_arg):
                outputs[node.name, result.name.lower()] = f"{node.name}:output:{i}"
            node.op = _CALL
            node.attr["f"].func.name = signature.name
            for attribute, arguments in (
                ("Tin", signature.input_arg),
                ("Tout", signature.output_arg),
            ):
                types = node.attr[attribute].list
                types.SetInParent()
                types.type.extend(argument.type for argument in arguments)
        if not outputs:
            continue
        for node in function.node_def:
            node.input[:] = [_moved(each, outputs) for each in node.input]
        for name, source in list(function.ret.items()):
            function.ret[name] = _moved(source, outputs)


def _moved(tensor: str, outputs: dict[tuple[str, str], str]) -> str:
    # "node:result:0"; TensorFlow writes the names of results small there.
    node, _, result = tensor.partition(":")
    return outputs.get((node, result.partition(":")[0].lower()), tensor)
