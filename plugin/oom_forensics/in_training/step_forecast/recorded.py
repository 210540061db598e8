"""The step that ran out of memory, as a plane of its run (proto/event_schema.h, kStepPlane).

The failing process writes what only it knows: the functions and the shapes. Whoever reads the
run first makes the forecast of it: TensorFlow takes graphs apart by running small ops, which
want memory of the pool that has just refused some.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oom_forensics.in_training.evidence import trace_file
from oom_forensics.in_training.evidence.plane_writer import PlaneWriter
from oom_forensics.in_training.step_forecast.step_function import Argument, StepFunction

# What decides which graph TensorFlow makes of a function.
_VARIABLES = ("TF_ENABLE_ONEDNN_OPTS",)
_REASON = "it was not made yet: open the run where TensorFlow is installed."


@dataclass(frozen=True)
class RecordedStep:
    """A step that did not end.

    Attributes:
      step: Its function, and what that was called with.
      step_id: TensorFlow's number of the run of the function.
      allocator: Which refused it.
      environment: Variables of the process by which TensorFlow prepares graphs.
    """

    step: StepFunction
    step_id: int
    allocator: str
    environment: dict[str, str]


def of_this_process(step: StepFunction, step_id: int, allocator: str) -> RecordedStep:
    """The step, with what else decides its graph here."""
    known = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return RecordedStep(step, step_id, allocator, known)


def serialized(recorded: RecordedStep) -> bytes:
    """Returns an XSpace with the plane."""
    step = recorded.step
    plane = PlaneWriter(trace_file.STEP)
    head = plane.add_record("forecast")
    plane.add_text(head, "origin", "oom")
    plane.add_text(head, "function", step.name)
    plane.add_text(head, "reason", _REASON)
    plane.add_int64(head, "step_id", recorded.step_id)
    plane.add_text(head, "allocator_name", recorded.allocator)
    facts = {
        "arguments": [asdict(each) for each in step.arguments],
        "element_shapes": step.element_shapes,
        "compiled_functions": step.compiled_functions,
        "batch": step.batch,
        "one_buffer": step.one_buffer,
        "environment": recorded.environment,
    }
    plane.add_text(head, "step", json.dumps(facts))
    for name, definition in step.definitions.items():
        plane.add_bytes(head, f"definition {name}", definition)
    return plane.serialized()


def steps_in(trace: Path) -> list[RecordedStep]:
    """Returns the steps of a trace that have no forecast yet.

    Raises:
      OSError, ValueError: The trace cannot be read.
    """
    made = {
        _key(plane, each)
        for plane in trace_file.plane_headers(trace, trace_file.FORECAST)
        for each in plane.event_metadata.values()
        if each.name == "forecast"
    }
    return [
        _read(plane, plane.event_metadata[1])
        for plane in trace_file.plane_headers(trace, trace_file.STEP)
        if _key(plane, plane.event_metadata[1]) not in made
    ]


def _key(plane: Any, head: Any) -> tuple[str, int, str]:
    """A step of a function, and the pool that refused it."""
    return (
        _text(plane, "function", head),
        _number(plane, "step_id", head),
        _text(plane, "allocator_name", head),
    )


def _read(plane: Any, head: Any) -> RecordedStep:
    facts = json.loads(_text(plane, "step", head))
    names = {key: stat.name for key, stat in plane.stat_metadata.items()}
    definitions = {
        names[stat.metadata_id].partition(" ")[2]: stat.bytes_value
        for stat in head.stats
        if names[stat.metadata_id].startswith("definition ")
    }
    step = StepFunction(
        name=_text(plane, "function", head),
        definitions=definitions,
        arguments=tuple(_argument(each) for each in facts["arguments"]),
        element_shapes=tuple(_tuple(shape) for shape in facts["element_shapes"]),
        compiled_functions=tuple(facts["compiled_functions"]),
        batch=facts["batch"],
        one_buffer=tuple(tuple(group) for group in facts["one_buffer"]),
    )
    return RecordedStep(
        step,
        _number(plane, "step_id", head),
        _text(plane, "allocator_name", head),
        dict(facts["environment"]),
    )


def _argument(facts: dict[str, Any]) -> Argument:
    variable = facts["variable"]
    return Argument(
        facts["dtype"],
        _tuple(facts["shape"]),
        None if variable is None else (variable[0], _tuple(variable[1])),
        facts["shared_name"],
        facts["is_live"],
    )


def _tuple(shape: list[int | None] | None) -> tuple[int | None, ...] | None:
    return None if shape is None else tuple(shape)


def _stat(plane: Any, name: str, metadata: Any) -> Any:
    for stat in metadata.stats:
        if plane.stat_metadata[stat.metadata_id].name == name:
            return stat
    return None


def _text(plane: Any, name: str, metadata: Any) -> str:
    stat = _stat(plane, name, metadata)
    return stat.str_value if stat is not None else ""


def _number(plane: Any, name: str, metadata: Any) -> int:
    stat = _stat(plane, name, metadata)
    return int(stat.int64_value) if stat is not None else 0
