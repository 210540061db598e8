"""What is asked of a run, and the rows that its answers become."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from oom_forensics import datasets
from oom_forensics.datasets import DatasetKind, Filter, GroupBy, Moment, Query
from oom_forensics.fleet.schema import TABLES, host_row
from oom_forensics.message import Message

Rows = dict[str, list[dict[str, Any]]]
"""By table."""

_Answer = TypeVar("_Answer", bound=Message)

_GROUPINGS = {
    "op": GroupBy.GROUP_OP,
    "site": GroupBy.GROUP_SITE,
    "line": GroupBy.GROUP_LINE,
    "role": GroupBy.GROUP_ROLE,
}
SITES = 100
"""Largest groups of a grouping that are kept of a moment."""
PEAKS = 16
"""Allocators, nearest to their limit first, whose peak is kept of a run."""
_PAGE_ROWS = 10_000


class Ask(Protocol):
    """Asks the converter that has the run open."""

    def __call__(self, answer: type[_Answer], query: Query) -> _Answer:
        """Returns the dataset."""


def rows_of_run(ask: Ask) -> tuple[Rows, int]:
    """Returns a run's rows by table, and when it ended (ns since the epoch; 0: not known).

    The row of `runs` has what the converter knows; keys and files are the caller's.
    """
    info = ask(datasets.Info, Query(dataset=DatasetKind.INFO))
    window = ask(datasets.OomWindow, Query(dataset=DatasetKind.OOM_WINDOW))
    incidents = [oom for oom in window.ooms if oom.incident == oom.index]
    allocators = [(host.host, each) for host in info.hosts for each in host.allocators]
    rows: Rows = {
        "runs": [
            TABLES["runs"].row(
                converter_version=info.converter_version,
                oom_count=len(window.ooms),
                incident_count=len(incidents),
                hosts=[host_row(host) for host in info.hosts],
            )
        ],
        "incidents": [TABLES["incidents"].row(oom) for oom in incidents],
        "allocators": [TABLES["allocators"].row(each, host=host) for host, each in allocators],
        "sites": [],
        "steps": _steps(ask),
        "quality": _quality(info.quality, window.quality),
    }
    for oom in incidents:
        where = Filter(host=oom.host, allocator=oom.allocator)
        rows["sites"] += _sites(ask, where, "oom", oom.index, Moment(oom=oom.index))
    for host, each in sorted(allocators, key=lambda pair: -pair[1].closeness)[:PEAKS]:
        where = Filter(host=host, allocator=each.allocator)
        rows["sites"] += _sites(ask, where, "peak", None, Moment(peak=True))
    ends = [max(oom.time_ns for oom in window.ooms)] if window.ooms else []
    ends += [host.stop_ns for host in info.hosts] + [each.last_ns for _, each in allocators]
    return rows, max(ends, default=0)


def _sites(
    ask: Ask, where: Filter, name: str, oom: int | None, moment: Moment
) -> list[dict[str, Any]]:
    rows = []
    for grouping, group_by in _GROUPINGS.items():
        query = Query(
            dataset=DatasetKind.ALLOCATIONS, filter=where, at=moment, group_by=group_by, limit=1
        )
        live = ask(datasets.Allocations, query)
        rows += [
            TABLES["sites"].row(
                group,
                moment=name,
                oom=oom,
                host=where.host,
                allocator=where.allocator,
                time_ns=live.time_ns,
                grouping=grouping,
                live_allocated_bytes=live.total_allocated_bytes,
            )
            for group in live.groups[:SITES]
        ]
    return rows


def _steps(ask: Ask) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        query = Query(dataset=DatasetKind.STEPS, offset=len(rows), limit=_PAGE_ROWS)
        page = ask(datasets.Steps, query)
        rows += [TABLES["steps"].row(step) for step in page.steps]
        if not page.steps or len(rows) >= page.total_count:
            return rows


def _quality(*answers: list[datasets.Quality]) -> list[dict[str, Any]]:
    """Returns each note once, though several answers bear it."""
    rows: list[dict[str, Any]] = []
    for note in (note for notes in answers for note in notes):
        row = TABLES["quality"].row(note)
        if row not in rows:
            rows.append(row)
    return rows
