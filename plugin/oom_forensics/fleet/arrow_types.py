"""Arrow types and values of the messages of proto/datasets.

A column bears the name of the field it is of, its unit included; a message inside a message
is a struct, and null where nothing was recorded; an enum is its name. Unsigned 64-bit numbers
are signed here: Spark and Hive know no others.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from typing import Any

import pyarrow as pa

from oom_forensics.message import Message

_SCALARS = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}


def fields_of(message: type[Message], left_out: frozenset[str] = frozenset()) -> list[pa.Field]:
    """Returns the Arrow fields of a message, without those left out."""
    return [
        pa.field(name, type_of(hint))
        for name, hint in typing.get_type_hints(message).items()
        if typing.get_origin(hint) is not typing.ClassVar and name not in left_out
    ]


def type_of(hint: Any) -> pa.DataType:
    """Returns the Arrow type of a field with this type hint."""
    if typing.get_origin(hint) is list:
        return pa.list_(type_of(typing.get_args(hint)[0]))
    if isinstance(hint, types.UnionType):
        return type_of(next(each for each in typing.get_args(hint) if each is not type(None)))
    if issubclass(hint, enum.Enum):
        return pa.string()
    if issubclass(hint, Message):
        return pa.struct(fields_of(hint))
    return _SCALARS[hint]


def values_of(message: Message, left_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Returns the values of a message by field, as Arrow takes them."""
    return {
        field.name: _value_of(getattr(message, field.name))
        for field in dataclasses.fields(message)  # type: ignore[arg-type]  # every one is
        if field.name not in left_out
    }


def _value_of(value: Any) -> Any:
    if isinstance(value, Message):
        return None if value == type(value)() else values_of(value)
    if isinstance(value, list):
        return [_value_of(item) for item in value]
    if isinstance(value, enum.Enum):
        return value.value
    return value
