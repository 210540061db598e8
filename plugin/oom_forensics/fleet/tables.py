"""The tables of a fleet and their columns; docs/fleet.md tells them to a reader."""

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
_HOST_LEFT_OUT = frozenset({"allocators", "environment", "hooks"})


@dataclass(frozen=True)
class Table:
    """A table: `run_id` and `job`, its own columns, then those of a message."""

    name: str
    about: str
    """What a row is."""
    own: tuple[tuple[str, pa.DataType], ...] = ()
    message: type[Message] | None = None
    left_out: frozenset[str] = frozenset()
    """Fields of `message` that are none of its columns."""

    @functools.cached_property
    def schema(self) -> pa.Schema:
        """The schema of its files. `day` is in the name of their folder."""
        keys = [pa.field("run_id", _TEXT), pa.field("job", _TEXT)]
        own = [pa.field(name, kind) for name, kind in self.own]
        derived = fields_of(self.message, self.left_out) if self.message else []
        return pa.schema(
            keys + own + derived,
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
                ("url", _TEXT),
                ("name", _TEXT),
                ("version", _TEXT),
                ("file_bytes", _COUNT),
                ("modified_ns", _COUNT),
                ("converter_version", _TEXT),
                ("oom_count", _COUNT),
                ("incident_count", _COUNT),
                ("hosts", pa.list_(pa.struct(fields_of(datasets.HostInfo, _HOST_LEFT_OUT)))),
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
                # "oom" or "peak"
                ("moment", _TEXT),
                # incidents.index of moment "oom"; null at the peak
                ("oom", _COUNT),
                ("host", _TEXT),
                ("allocator", _TEXT),
                ("time_ns", _COUNT),
                # "op", "site", "line" or "role"; bytes add up within one of them
                ("grouping", _TEXT),
                # of all that was live then
                ("live_allocated_bytes", _COUNT),
            ),
            datasets.AllocationGroup,
            frozenset({"children"}),
        ),
        Table(
            "allocators",
            "an allocator of a host: limit, peaks, counts",
            (("host", _TEXT),),
            datasets.AllocatorInfo,
        ),
        Table("steps", "a training step of an allocator", (), datasets.StepUse),
        Table("quality", "what was lost, sampled or missing in a run", (), datasets.Quality),
        Table(
            "errors",
            "a run that could not be converted",
            (
                ("url", _TEXT),
                ("name", _TEXT),
                ("version", _TEXT),
                ("file_bytes", _COUNT),
                ("modified_ns", _COUNT),
                ("sentence", _TEXT),
                # of the converter; negative: the signal that ended it; null: it was not run
                ("exit_code", _COUNT),
                ("elapsed_ms", _COUNT),
            ),
        ),
    )
}


def host_row(host: datasets.HostInfo) -> dict[str, Any]:
    """Returns an item of runs.hosts."""
    return values_of(host, _HOST_LEFT_OUT)
