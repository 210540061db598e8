"""Variables that share the buffer of their first value.

Variables that are made while a function is traced (the slots of a Keras optimizer) get
their first values from one graph, in which TensorFlow makes equal ones, the zeros, once.
Each variable refers to that buffer, and copies it when it is written for the first time: so
the first step needs more than any later one.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.in_place import call_after
from oom_forensics.in_training.step_forecast.step_function import shared_name_of

_LEAST_BYTES = 1 << 16
# Of one process, the last ones.
_MOST_GROUPS = 1000

_Group = list["weakref.ref[Any]"]
_groups: list[_Group] = []


def watch() -> None:
    """Learns of the variables that functions make from now on."""
    when_imported("tensorflow.python.eager.polymorphic_function.polymorphic_function", _wrap)


def in_one_buffer(library: CollectorLibrary) -> tuple[tuple[str, ...], ...]:
    """Names (`Argument.shared_name`) of variables that lie in one buffer at this moment.

    Asks only variables that may.
    """
    found: list[tuple[str, ...]] = []
    for group in _groups:
        by_address: dict[int, list[str]] = {}
        for variable in (each() for each in group):
            with contextlib.suppress(Exception):
                if variable is not None and (address := library.tensor_address(variable.handle)):
                    names = by_address.setdefault(address, [])
                    names.append(shared_name_of(variable.handle))
        found += [tuple(names) for names in by_address.values() if len(names) > 1]
    return tuple(found)


def note(initializers: Iterable[tuple[Any, Any]]) -> None:
    """Remembers variables of the same shape and type that have just got their first values."""
    groups: dict[tuple[Any, ...], _Group] = {}
    for variable, _ in initializers:
        shape = variable.shape
        if shape.is_fully_defined() and shape.num_elements() * variable.dtype.size >= _LEAST_BYTES:
            key = (variable.dtype, *shape.as_list())
            groups.setdefault(key, []).append(weakref.ref(variable))
    _groups.extend(group for group in groups.values() if len(group) > 1)
    _groups[:] = [group for group in _groups if any(each() is not None for each in group)]
    del _groups[:-_MOST_GROUPS]


def _wrap(module: ModuleType) -> None:
    function = getattr(module, "Function", None)
    name = "_initialize_uninitialized_variables"
    if hasattr(function, name):
        call_after(function, name, lambda _, initializers: note(initializers))
