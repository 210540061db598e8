"""Writes docs/fleet-schema.md: every column of the fleet's tables, its type and its meaning.

    python -m generators.fleet_schema > docs/fleet-schema.md

Columns and types are those that the tables are written with (oom_forensics.fleet.schema); the
meaning of what is a field of proto/datasets stands there, and reaches this by the types
that are generated from it.
"""

from __future__ import annotations

import ast
import enum
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from oom_forensics import datasets
from oom_forensics.fleet.arrow_types import type_of
from oom_forensics.fleet.schema import HOST_LEFT_OUT, KEYS, SCHEMA_VERSION, TABLES, Table
from oom_forensics.message import Message

ROOT = Path(__file__).resolve().parents[2]
_HEAD = """# The tables of a fleet

Generated from the code by `tools/generate`; version {version}. [fleet.md](fleet.md) says how to
read them. A part of a struct is named behind a dot, `[]` stands for the items of a list. `day` (of
the run's end, UTC) is the partition of every table. Null: not recorded.
"""

Row = tuple[str, str, str]


def generate() -> str:
    """Returns the page."""
    parts = [_HEAD.format(version=SCHEMA_VERSION)]
    for table in TABLES.values():
        rows = [f"| `{name}` | {kind} | {about} |" for name, kind, about in _rows(table)]
        head = ["| column | type | meaning |", "| --- | --- | --- |"]
        parts.append(
            "\n".join([f"## {table.name}", "", f"A row is {table.about}.", "", *head, *rows])
        )
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _rows(table: Table) -> Iterator[Row]:
    for column in (*KEYS, *table.own):
        yield column.name, _kind(column.kind), column.about
        if column.name == "hosts":
            yield from _fields(datasets.HostInfo, HOST_LEFT_OUT, "hosts[].")
    if table.message is not None:
        yield from _fields(table.message, table.left_out, "")


def _fields(message: type[Message], left_out: frozenset[str], before: str) -> Iterator[Row]:
    about = _abouts()[message.__name__]
    for name, hint in typing.get_type_hints(message).items():
        if typing.get_origin(hint) is typing.ClassVar or name in left_out:
            continue
        item, items = _item(hint), "[]" if typing.get_origin(hint) is list else ""
        meaning = about.get(name, "")
        if issubclass(item, Message):
            yield before + name, _kind(type_of(hint)), meaning or _abouts()[item.__name__][""]
            yield from _fields(item, frozenset(), f"{before}{name}{items}.")
        else:
            of_enum = f" ({item.__name__})" if issubclass(item, enum.Enum) else ""
            yield before + name, _kind(type_of(hint)) + of_enum, meaning


def _item(hint: Any) -> Any:
    """Returns the type of a field, or of the items of a list."""
    if typing.get_origin(hint) is list:
        return _item(typing.get_args(hint)[0])
    if isinstance(hint, types.UnionType):
        return next(each for each in typing.get_args(hint) if each is not type(None))
    return hint


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_kind(kind.value_type)}"
    return "struct" if pa.types.is_struct(kind) else str(kind)


def _abouts() -> dict[str, dict[str, str]]:
    """Returns message → field → meaning, "" for the message itself."""
    if not _known:
        module = ast.parse((ROOT / "plugin/oom_forensics/datasets.py").read_text())
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                _known[node.name] = dict(_abouts_of(node))
    return _known


_known: dict[str, dict[str, str]] = {}


def _abouts_of(message: ast.ClassDef) -> Iterator[tuple[str, str]]:
    yield "", _one_line(ast.get_docstring(message) or "")
    for field, behind in zip(message.body, [*message.body[1:], None], strict=True):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant):
            yield field.target.id, _one_line(str(behind.value.value))


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(generate(), end="")
