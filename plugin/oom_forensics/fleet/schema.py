"""The tables of a fleet and their columns; docs/fleet-schema.md is generated from them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from oom_forensics import datasets
from oom_forensics.fleet.arrow_types import fields_of, values_of
from oom_forensics.message import Message

SCHEMA_VERSION = 1
"""Changes when a column goes, or changes its type or meaning; not when one is added."""

_TEXT, _COUNT = pa.string(), pa.int64()
HOST_LEFT_OUT = frozenset({"allocators", "environment", "hooks"})
"""Fields of HostInfo that are none of runs.hosts."""


@dataclass(frozen=True)
class Column:
    """A column that is no field of proto/datasets."""

    name: str
    kind: pa.DataType
    about: str


KEYS = (
    Column("run_id", _TEXT, "names the run in all tables; of its URL"),
    Column("job", _TEXT, "the folder that holds the run's logdir, or what --job finds in its URL"),
)
"""The first columns of every table."""

_OF_A_RUN = (
    Column("url", _TEXT, "the run's folder, or its trace: a path or a URL"),
    Column("name", _TEXT, "the run's name in its job"),
    Column("version", _TEXT, "the same for the same traces: names, sizes, and times or etags"),
    Column("file_bytes", _COUNT, "of its traces"),
    Column("modified_ns", _COUNT, "when the newest of its traces was written, since the epoch"),
)


@dataclass(frozen=True)
class Table:
    """A table: `run_id` and `job`, its own columns, then those of a message."""

    name: str
    about: str
    """What a row is."""
    own: tuple[Column, ...] = ()
    message: type[Message] | None = None
    left_out: frozenset[str] = frozenset()
    """Fields of `message` that are none of its columns."""

    @functools.cached_property
    def schema(self) -> pa.Schema:
        """The schema of its files. `day` is in the name of their folder."""
        own = [pa.field(column.name, column.kind) for column in (*KEYS, *self.own)]
        derived = fields_of(self.message, self.left_out) if self.message else []
        return pa.schema(
            own + derived,
            metadata={"oom_forensics.fleet.schema": str(SCHEMA_VERSION)},
        )

    def row(self, message: Message | None = None, **own: Any) -> dict[str, Any]:
        """Returns a row without its keys."""
        return {**own, **(values_of(message, self.left_out) if message else {})}


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "runs",
            "a run that was converted",
            (
                *_OF_A_RUN,
                Column("converter_version", _TEXT, "of the program that converted it"),
                Column("oom_count", _COUNT, "refused requests that were out-of-memories"),
                Column("incident_count", _COUNT, "moments of them: rows of `incidents`"),
                Column(
                    "hosts",
                    pa.list_(pa.struct(fields_of(datasets.HostInfo, HOST_LEFT_OUT))),
                    "its hosts",
                ),
            ),
        ),
        Table(
            "incidents",
            "the first refused request of an incident, its verdict and remedies",
            (),
            datasets.Oom,
            frozenset({"recent", "holders", "lines", "pins", "incident"}),
        ),
        Table(
            "sites",
            "what an op, a site, a line or a role held at a moment",
            (
                Column("moment", _TEXT, '"oom" or "peak"'),
                Column("oom", _COUNT, 'incidents.index of moment "oom"; null at the peak'),
                Column("host", _TEXT, "whose trace it is of"),
                Column("allocator", _TEXT, "as `allocators.name`"),
                Column("time_ns", _COUNT, "the moment, since the epoch"),
                Column(
                    "grouping", _TEXT, '"op", "site", "line" or "role"; bytes add up within one'
                ),
                Column("live_allocated_bytes", _COUNT, "of all that was live at the moment"),
            ),
            datasets.AllocationGroup,
            frozenset({"children"}),
        ),
        Table(
            "allocators",
            "an allocator of a host: limit, peaks, counts",
            (Column("host", _TEXT, "whose allocator it is"),),
            datasets.AllocatorInfo,
        ),
        Table("steps", "a training step of an allocator", (), datasets.StepUse),
        Table("quality", "what was lost, sampled or missing in a run", (), datasets.Quality),
        Table(
            "errors",
            "a run that could not be converted",
            (
                *_OF_A_RUN,
                Column("sentence", _TEXT, "what is wrong, for a person"),
                Column(
                    "exit_code",
                    _COUNT,
                    "of the converter; negative: the signal that ended it; null: it was not run",
                ),
                Column("elapsed_ms", _COUNT, "until it was given up"),
            ),
        ),
    )
}


def host_row(host: datasets.HostInfo) -> dict[str, Any]:
    """Returns an item of runs.hosts."""
    return values_of(host, HOST_LEFT_OUT)
