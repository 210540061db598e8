"""The links of a chain in words: what an object is, and by which name another holds it."""

from __future__ import annotations

import os
from types import (
    AsyncGeneratorType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
    TracebackType,
)
from typing import NamedTuple

from oom_forensics.in_training.keepers import safe_looks
from oom_forensics.in_training.source.frames import look_at_locals


class Link(NamedTuple):
    """One object of a chain."""

    kind: str
    """What it is: "list", "GradientTape", "exception ValueError"."""
    name: str
    """By which name the object before it holds it; empty where it has none."""
    place: str
    """Of the first one: where that name is known: "in __main__"."""
    size: int | None
    """Items of a container."""
    most: int | None = None
    """How many it can have; None: there is no end."""

    @property
    def text(self) -> str:
        """It in words: "list 'losses' in __main__ (200 items)"."""
        items = ""
        if self.size is not None:
            most = f" of at most {self.most}" if self.most is not None else ""
            items = f"({self.size}{most} item{'' if (self.most or self.size) == 1 else 's'})"
        name = f"'{self.name}'" if self.name else ""
        return " ".join(filter(None, (self.kind, name, self.place, items)))


def link_to(held: object, holder: object | None) -> Link:
    """Returns the link to an object from the one that holds it."""
    name = name_within(holder, held) if holder is not None else ""
    return Link(_kind(held), name, "", safe_looks.size_of(held), safe_looks.most_of(held))


def name_within(holder: object, held: object) -> str:
    """Returns by which name `holder` refers to `held`; empty where it has none."""
    if type(holder) is FunctionType:
        for name, cell in zip(holder.__code__.co_freevars, holder.__closure__ or (), strict=False):
            if _content(cell) is held:
                return name
        return ""
    if type(holder) is FrameType:
        return _local_name(holder, held)
    if safe_looks.size_of(holder) is not None and type(holder).__module__ == "builtins":
        return ""
    attributes = safe_looks.attributes_of(holder)
    if attributes is not None:
        attribute = safe_looks.name_of_value(attributes, held)
        if attribute is not None:
            return attribute
    return next((name for name, value in safe_looks.slots_of(holder) if value is held), "")


def is_transparent(held: object, holder: object | None) -> bool:
    """Whether an object is only how `holder` is built: its `__dict__`, a closure's cell."""
    if type(held) is CellType:
        return True
    if type(held) is TracebackType and type(holder) is TracebackType:
        return True
    if type(held) is tuple and type(holder) is FunctionType:
        return holder.__closure__ is held
    if type(held) is dict and holder is not None:
        if safe_looks.has_base(holder, type) or type(holder) is ModuleType:
            return True
        return safe_looks.attributes_of(holder) is held
    return False


def _kind(instance: object) -> str:
    if type(instance) is FunctionType:
        return f"function {_function(instance.__code__)}"
    if type(instance) is GeneratorType:
        return f"generator {_function(instance.gi_code)}"
    if type(instance) is CoroutineType:
        return f"coroutine {_function(instance.cr_code)}"
    if type(instance) is AsyncGeneratorType:
        return f"generator {_function(instance.ag_code)}"
    if type(instance) is FrameType:
        file = os.path.basename(instance.f_code.co_filename)
        return f"frame of {instance.f_code.co_name} ({file}:{instance.f_lineno})"
    if type(instance) is TracebackType:
        return "traceback"
    name = safe_looks.type_name(instance)
    if safe_looks.has_base(instance, BaseException):
        return f"exception {name}"
    if safe_looks.has_base(instance, type):
        return f"class {type.__dict__['__name__'].__get__(instance)}"
    return name


def _function(code: CodeType) -> str:
    return f"{code.co_name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _local_name(frame: FrameType, held: object) -> str:
    found: list[str] = []

    def look(names: dict[str, object]) -> None:
        found.append(safe_looks.name_of_value(names, held) or "")

    look_at_locals(frame, look)
    return found[0]
