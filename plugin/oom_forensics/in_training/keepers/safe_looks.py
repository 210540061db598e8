"""Looking at objects without running code of the user.

An attribute may be a property, `len()` a method, a class may have a metaclass that answers
in its place. Here slots of C types are asked directly.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

_NAME_OF_TYPE = type.__dict__["__name__"].__get__
_DICT_OF_TYPE = type.__dict__["__dict__"].__get__
_MRO_OF_TYPE = type.__dict__["__mro__"].__get__
# Py_TPFLAGS_HEAPTYPE: made by a class statement, or nearly.
_HEAP_TYPE = 1 << 9

_SIZED = (list, tuple, dict, set, frozenset, deque, OrderedDict)


def type_name(instance: object) -> str:
    """Returns the name of an object's class."""
    return str(_NAME_OF_TYPE(type(instance)))


def has_base(instance: object, base: type) -> bool:
    """Whether `base` is among the classes of an object; asks no metaclass."""
    return base in _MRO_OF_TYPE(type(instance))


def size_of(instance: object) -> int | None:
    """Returns how many items a container of Python's has; None for other objects."""
    for kind in _SIZED:
        if has_base(instance, kind):
            return int(kind.__len__(instance))  # type: ignore[arg-type]
    return None


def most_of(instance: object) -> int | None:
    """Returns how many items a deque can have; None where there is no end to it."""
    if not has_base(instance, deque):
        return None
    most: int | None = deque.__dict__["maxlen"].__get__(instance)
    return most


def attributes_of(instance: object) -> dict[str, Any] | None:
    """Returns an object's `__dict__`; None if it has none."""
    for base in _MRO_OF_TYPE(type(instance)):
        descriptor = _DICT_OF_TYPE(base).get("__dict__")
        if type(descriptor) is GetSetDescriptorType:
            found = descriptor.__get__(instance)
            return found if type(found) is dict else None
    return None


def slots_of(instance: object) -> Iterator[tuple[str, Any]]:
    """Yields the names and values of an object's `__slots__`."""
    for base in _MRO_OF_TYPE(type(instance)):
        if not base.__flags__ & _HEAP_TYPE:
            continue
        for name, descriptor in dict.items(dict(_DICT_OF_TYPE(base))):
            if type(descriptor) is MemberDescriptorType:
                try:
                    yield name, descriptor.__get__(instance)
                except AttributeError:
                    continue


def name_of_value(names: dict[Any, Any], value: object) -> str | None:
    """Returns the name that a namespace has for a value; None if it is no name."""
    for name, each in dict.items(names):
        if each is value and type(name) is str:
            return name
    return None
