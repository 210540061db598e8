"""The base of the datasets' types: canonical protobuf JSON in and out.

64-bit integers are strings in that JSON, enums are names, bytes are base64, and a
field with its default value is left out.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
import threading
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas

_SelfMessage = TypeVar("_SelfMessage", bound="Message")


class Message:
    """A message of proto/datasets as a dataclass, which it becomes when it is first used."""

    strict: typing.ClassVar[bool] = False
    """Unknown fields are an error: for tests, where converter and package are of one build."""

    @classmethod
    def from_json(cls: type[_SelfMessage], value: Mapping[str, Any]) -> _SelfMessage:
        """Returns the message of a parsed JSON object; unknown fields are ignored."""
        decoders = _decoders(typing.cast(Any, cls))
        known = {}
        for name, item in value.items():
            field = decoders.get(name)
            if field is None and Message.strict:
                raise ValueError(f"{cls.__name__} has no field {name!r}")
            if field is not None and item is not None:
                known[field[0]] = field[1](item)
        return cls(**known)

    @classmethod
    def prepare(cls) -> None:
        """Makes all that reading such a message takes, which else the first one read waits for."""
        prepared: set[Any] = set()
        waiting: list[Any] = [cls]
        while waiting:
            message = waiting.pop()
            if message in prepared:
                continue
            prepared.add(message)
            dataclasses.fields(message)
            _decoders(message)
            for hint in _hints(message).values():
                waiting += [each for each in (hint, *typing.get_args(hint)) if _is_message(each)]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows of a dataset's answer as a table, as its CSV has them.

        A message that is no answer is one row. See `oom_forensics.tables`.
        """
        from oom_forensics.tables import rows_of, to_pandas

        return to_pandas(rows_of(self))

    def to_json(self) -> dict[str, Any]:
        """Returns the message as JSON values, without its default values."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is one
        values = ((field.name, getattr(self, field.name), field) for field in fields)
        return {
            _json_name(name): _encode(value)
            for name, value, field in values
            if value != _default_of(field)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy, or out of a pickle: nobody called the constructor.
        dataclasses.fields(self)  # type: ignore[arg-type]
        self.__dict__.update(state)


class _FieldsWhenUsed:
    """In the place of a dataclass's fields: whoever asks for them makes it one."""

    def __get__(self, instance: Any, cls: Any) -> Any:
        with _making:
            # Another thread may have made it meanwhile.
            if cls.__dict__["__dataclass_fields__"] is self:
                _make(cls)
        return cls.__dataclass_fields__


_making = threading.RLock()


def _make(cls: Any) -> None:
    """Makes a dataclass of it, which other threads may be constructing just now."""
    written = {
        name: value
        for name, value in vars(cls).items()
        if name not in ("__init__", "__dataclass_fields__", "__dict__", "__weakref__")
    }
    made = vars(dataclasses.dataclass(type(cls.__name__, cls.__bases__, dict(written))))
    for name in written.keys() - made.keys():
        delattr(cls, name)  # the default of a field that has a factory
    new = {name: made[name] for name in made.keys() - written.keys()}
    fields, construct = new.pop("__dataclass_fields__"), new.pop("__init__")
    for name, value in new.items():
        if name not in ("__dict__", "__weakref__"):
            setattr(cls, name, value)
    cls.__init__ = construct
    cls.__dataclass_fields__ = fields


def dataclass_when_used(cls: Any) -> Any:
    """Makes the class a dataclass once it is constructed or asked for its fields."""

    def construct(self: Any, *values: Any, **named: Any) -> None:
        dataclasses.fields(cls)
        cls.__init__(self, *values, **named)

    cls.__init__ = construct
    cls.__dataclass_fields__ = _FieldsWhenUsed()
    return cls


def _json_name(name: str) -> str:
    # A name that is a Python keyword has an underscore behind it.
    first, *others = name.rstrip("_").split("_")
    return first + "".join(other.capitalize() for other in others)


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _encode(value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


_hints = functools.cache(typing.get_type_hints)


def _is_message(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Message)


@functools.cache
def _decoders(cls: Any) -> dict[str, tuple[str, Callable[[Any], Any]]]:
    """Returns JSON name → (attribute, decoder) of a message's fields."""
    return {
        _json_name(name): (name, _decoder(hint))
        for name, hint in _hints(cls).items()
        if typing.get_origin(hint) is not typing.ClassVar
    }


def _decoder(hint: Any) -> Callable[[Any], Any]:
    if typing.get_origin(hint) is list:
        (item_hint,) = typing.get_args(hint)
        decode_item = _decoder(item_hint)
        return lambda items: [decode_item(item) for item in items]
    if isinstance(hint, types.UnionType):
        return _decoder(next(each for each in typing.get_args(hint) if each is not type(None)))
    if hint is bytes:
        return base64.b64decode
    decoder: Callable[[Any], Any] = hint.from_json if issubclass(hint, Message) else hint
    return decoder
