"""Rows of a dataset as pandas or Parquet tables.

pandas and pyarrow are optional: `pip install oom-forensics[pandas]`, `[parquet]`.
"""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from oom_forensics.message import Message

if TYPE_CHECKING:
    import pandas


# Where the rows of an answer lie, as in its CSV.
_ROWS = {
    "Info": "hosts.allocators",
    "MemoryTimeline": "series.columns",
    "Allocations": "allocations",
    "Fragmentation": "maps.chunks",
    "OomWindow": "ooms",
    "DriverMemory": "series.rows",
    "Leaks": "leaks",
    "Compare": "rows",
    "Steps": "steps",
    "AddressHistory": "rectangles",
    "CompiledModules": "modules",
    "AllocationLife": "allocation",
    "Forecasts": "forecasts",
    "WhatIfAnswer": "limits",
}


def rows_of(answer: Message) -> list[Message]:
    """Returns the rows of a dataset's answer; any other message is a row itself."""
    rows = [answer]
    for name in filter(None, _ROWS.get(type(answer).__name__, "").split(".")):
        below = [getattr(row, name) for row in rows]
        rows = [item for value in below for item in (value if isinstance(value, list) else [value])]
    return rows


def to_columns(rows: Iterable[Message]) -> dict[str, list[Any]]:
    """Returns rows of one type as named columns.

    Names and units are those of the schema. A field that is itself a message is
    flattened: `request.op_name` becomes the column `request_op_name`. Lists stay
    lists, enums are their names, and `shape` is None where it was not recorded.
    """
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in _flat(row, ""):
            columns.setdefault(name, []).append(value)
    return columns


def _flat(row: Message, prefix: str) -> Iterable[tuple[str, Any]]:
    for field in dataclasses.fields(row):  # type: ignore[arg-type]  # every message is one
        value = getattr(row, field.name)
        name = prefix + field.name
        if isinstance(value, Message):
            yield from _flat(value, name + "_")
        elif field.name == "shape" and not getattr(row, "has_shape", True):
            yield name, None
        else:
            yield name, value.value if isinstance(value, enum.Enum) else value


def to_pandas(rows: Iterable[Message]) -> pandas.DataFrame:
    """Returns rows of one type as a pandas DataFrame; see `to_columns`."""
    import pandas

    frame: pandas.DataFrame = pandas.DataFrame(to_columns(rows))
    return frame


def to_parquet(rows: Iterable[Message], path: str | os.PathLike[str]) -> None:
    """Writes rows of one type into a Parquet file; see `to_columns`.

    64-bit numbers keep every bit: addresses are unsigned, the rest is signed.
    """
    import pyarrow
    import pyarrow.parquet

    columns = to_columns(rows)
    arrays = {
        name: pyarrow.array(values, pyarrow.uint64() if "address" in name else None)
        for name, values in columns.items()
    }
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)
