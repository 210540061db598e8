"""The function of a step and what it is called with, as plain data.

Nothing here keeps a tensor, a variable or a function of the user alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from oom_forensics.in_training.source.frames import local_values

# What constants hold that decide shapes is smaller.
_SMALL_BYTES = 4096


@dataclass(frozen=True)
class Argument:
    """An argument or captured input of a function.

    Attributes:
      dtype: TensorFlow's DataType number.
      shape: None where the rank is not known; a dimension of None is open.
      variable: Of a resource that is a variable: its dtype and shape.
      shared_name: What is the same for two handles of one variable.
      is_live: It is there already; else only its spec is known.
    """

    dtype: int
    shape: tuple[int | None, ...] | None
    variable: tuple[int, tuple[int | None, ...] | None] | None = None
    shared_name: str = ""
    is_live: bool = True


@dataclass(frozen=True)
class StepFunction:
    """A function to forecast.

    Attributes:
      name: As in TensorFlow's errors, "__inference_one_step_on_data_123".
      definitions: Serialized FunctionDefs, its own and those that it calls.
      arguments: In the order of the function's signature.
      element_shapes: Of the tensors that an iterator gives it, where the graph leaves
        them open; empty: as the graph says.
      compiled_functions: Those of the definitions that XLA compiles, whole.
      batch: Of the open dimension of the batch, where something told it.
      one_buffer: The `shared_name`s of variables that share a buffer until they are written.
    """

    name: str
    definitions: dict[str, bytes]
    arguments: tuple[Argument, ...]
    element_shapes: tuple[tuple[int | None, ...] | None, ...] = ()
    compiled_functions: tuple[str, ...] = ()
    batch: int | None = None
    one_buffer: tuple[tuple[str, ...], ...] = ()

    @property
    def compiled(self) -> bool:
        """Whether XLA compiles the function itself."""
        return self.name in self.compiled_functions


def of_call(name: str, tensors: Sequence[Any]) -> StepFunction:
    """The function of that name, called with these (eager) tensors, captures included."""
    definitions: dict[str, bytes] = {}
    compiled = _collect(name, definitions)
    return StepFunction(name, definitions, tuple(argument_of(t) for t in tensors), (), compiled)


def of_concrete(function: Any) -> StepFunction:
    """A ConcreteFunction, called with what its specs say."""
    captured = list(function.captured_inputs)
    placeholders = function.inputs[: len(function.inputs) - len(captured)]
    return of_call(_name_of(function), [*placeholders, *captured])


def _name_of(function: Any) -> str:
    name = function.name
    return name.decode() if isinstance(name, bytes) else str(name)


def waiting_call(frame: FrameType | None) -> StepFunction | None:
    """The outermost function that runs in a stack of frames; None: there is none.

    The frames of TensorFlow's own `AtomicFunction.call_flat` hold it: `self` is the
    function, `args` are its tensors.
    """
    found: tuple[str, Sequence[Any]] | None = None
    while frame is not None:
        code = frame.f_code
        if code.co_name == "call_flat" and code.co_filename.endswith("atomic_function.py"):
            function, arguments = local_values(frame, "self", "args")
            if function is not None and arguments is not None:
                found = (_name_of(function), arguments)
        frame = frame.f_back
    return None if found is None else of_call(*found)


def argument_of(tensor: Any) -> Argument:
    """What is known of a tensor, eager or of a graph, or of its spec."""
    shape = tensor.shape
    dims = None if shape.rank is None else tuple(shape.as_list())
    dtype = int(tensor.dtype.as_datatype_enum)
    variable = None
    shared_name = ""
    if tensor.dtype.name == "resource":
        data = _handle_data(tensor)
        if data is not None and data.is_set and data.shape_and_type:
            of = data.shape_and_type[0]
            variable = (
                int(of.dtype),
                None
                if of.shape.unknown_rank
                else tuple(None if d.size < 0 else int(d.size) for d in of.shape.dim),
            )
        shared_name = shared_name_of(tensor)
    return Argument(dtype, dims, variable, shared_name, hasattr(tensor, "_numpy_internal"))


def shared_name_of(handle: Any) -> str:
    """What is the same for every reference to one variable: its handle."""
    return str(id(handle))


def _handle_data(tensor: Any) -> Any:
    """What a resource's handle knows about it (HandleData); None: nothing."""
    from tensorflow.python.ops import handle_data_util

    if hasattr(tensor, "graph"):
        return handle_data_util.get_resource_handle_data(tensor)
    return getattr(tensor, "_handle_data", None)


def _forget_data(definition: Any) -> None:
    """Leaves zeros of large constants: their size counts, and they may be the user's data."""
    for node in definition.node_def:
        if node.op == "Const" and len(node.attr["value"].tensor.tensor_content) > _SMALL_BYTES:
            node.attr["value"].tensor.ClearField("tensor_content")


def _collect(name: str, definitions: dict[str, bytes]) -> tuple[str, ...]:
    """Adds the definition of `name` and all that it calls; returns those that XLA compiles."""
    from tensorflow.python.eager import context

    known = context.context()
    compiled: list[str] = []
    # Each with whether it is compiled together with a function that calls it.
    open_names = [(name, False)]
    while open_names:
        each, within = open_names.pop()
        if each in definitions or not known.has_function(each):
            continue
        definition = known.get_function_def(each)
        _forget_data(definition)
        definitions[each] = definition.SerializeToString()
        if definition.attr["_XlaMustCompile"].b and not within:
            compiled.append(each)
            within = True
        for node in definition.node_def:
            for attribute in node.attr.values():
                if attribute.HasField("func"):
                    open_names.append((attribute.func.name, within))
                open_names.extend((of.name, within) for of in attribute.list.func)
        # A function may be called as an op of its own name.
        open_names.extend((op, within) for op in {node.op for node in definition.node_def})
    return tuple(compiled)
