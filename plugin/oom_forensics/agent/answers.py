"""What the tools answer: the converter's datasets, short enough for a prompt.

Field names end in their unit (`_bytes`, `_ns`). `kind` and `sufficiency` are stable codes;
docs/verdicts.md explains each. Lists are cut to their largest rows, and say how many were left out.
"""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Any

from oom_forensics.core.sizes import size_in_bytes
from oom_forensics.datasets import GroupBy, Oom, Remedy, StepForecast
from oom_forensics.logdir.runs import scan
from oom_forensics.message import Message
from oom_forensics.remote.addresses import is_url, whole_path
from oom_forensics.trace import Trace, TraceError

Answer = dict[str, Any]

ROWS = 10
TEXT_CHARACTERS = 600


def list_runs(logdir: str) -> Answer:
    """The runs of a logdir, the newest first."""
    folder = whole_path(logdir)
    if not is_url(folder) and not Path(folder).is_dir():
        raise TraceError(f"There is no folder {folder}.")
    runs = scan({folder: ""})
    rows = [
        {"run": run.folder, "name": run.name, "modified_ns": run.modified_ns} for run in runs[:ROWS]
    ]
    return {"runs": rows, **_left_out(len(runs), "runs")}


def story(run: str) -> Answer:
    """Each out-of-memory: request, verdict, what to change, who holds most."""
    with Trace(run) as trace:
        ooms = trace.oom_window().ooms
        firsts = [oom for oom in ooms if oom.incident == oom.index]
        answer: Answer = {
            "out_of_memories": [_oom(oom) for oom in firsts[:ROWS]],
            **_left_out(len(firsts), "out_of_memories"),
        }
        failures = [host.library_failure for host in trace.info().hosts if host.library_failure]
        if failures:
            answer["library_failures"] = [
                _plain(each, "library", "error", "kind", "sentence", "remedy")
                for each in failures[:ROWS]
            ]
        if not ooms:
            answer["peaks"] = [
                _plain(each, "allocator", "device", "peak_in_use_bytes", "limit_bytes")
                for host in trace.info().hosts
                for each in host.allocators
            ][:ROWS]
        answer["leaks"] = [
            _plain(leak, "op_name", "bytes_per_step", "live_bytes", "sentence", "source")
            for leak in trace.leaks().leaks[:ROWS]
        ]
    return answer


def holders(run: str, by: str, at: str) -> Answer:
    """Who holds the memory at a moment."""
    with Trace(run) as trace:
        page = trace.allocations(at=at or None, group_by=_group_by(by), limit=1)
        return {
            "time_ns": page.time_ns,
            "total_bytes": page.total_allocated_bytes,
            "holders": [
                _plain(group, "key", "count", "allocated_bytes") for group in page.groups[:ROWS]
            ],
            **_left_out(len(page.groups), "holders"),
            "keepers": [
                _plain(keeper, "chain", "count", "allocated_bytes", "line")
                for keeper in page.keepers[:ROWS]
            ],
        }


def what_if(run: str, limit: str, batch_scale: float, dtype: str, without: list[str]) -> Answer:
    """Would the recorded requests have fit under other settings?"""
    with Trace(run) as trace:
        answer = trace.what_if(
            limit=_size(limit),
            batch_scale=batch_scale,
            dtype={"": dtype} if dtype else None,
            without=without,
        )
    return _plain(
        answer,
        "allocator",
        "fits",
        "sentence",
        "smallest_limit_bytes",
        "peak_in_use_bytes",
        "batch_size",
        "step_low_bytes",
        "step_high_bytes",
        "doubts",
    )


def forecast(run: str, limit: str) -> Answer:
    """What the steps that ran out of memory would have needed."""
    with Trace(run) as trace:
        forecasts = trace.forecast(limit_bytes=_size(limit) or 0).forecasts
    return {
        "forecasts": [_forecast(each) for each in forecasts[:ROWS]],
        **_left_out(len(forecasts), "forecasts"),
    }


def compare(run: str, baseline: str, by: str) -> Answer:
    """What grew from the peak of one run to the peak of another."""
    with Trace(baseline) as before, Trace(run) as after:
        answer = before.compare(at="peak", other="peak", other_trace=after, group_by=_group_by(by))
        grown = [row for row in answer.rows if row.delta_bytes]
    return {
        "summary": [_short(line) for line in answer.summary],
        "changes": [_plain(row, "key", "delta_bytes", "change") for row in grown[:ROWS]],
        **_left_out(len(grown), "changes"),
    }


def _oom(oom: Oom) -> Answer:
    return {
        "oom": oom.index,
        **_plain(oom, "allocator", "limit_bytes", "in_use_bytes", "largest_free_bytes"),
        "request": _plain(
            oom.request, "op_name", "who", "requested_bytes", "shape", "dtype", "step", "source"
        ),
        "verdict": _plain(oom.verdict, "kind", "sentence", "doubt", "short_by_bytes"),
        "remedies": [_remedy(remedy) for remedy in oom.remedies[:ROWS]],
        "lines": [_plain(line, "key", "count", "allocated_bytes") for line in oom.lines[:ROWS]],
        "keepers": [
            _plain(keeper, "chain", "allocated_bytes", "line") for keeper in oom.keepers[:ROWS]
        ],
        "also_refused": len(oom.also_refused),
    }


def _remedy(remedy: Remedy) -> Answer:
    return _plain(
        remedy,
        "kind",
        "title",
        "detail",
        "bytes",
        "sufficiency",
        "code",
        "values",
        "needs_low_bytes",
        "needs_high_bytes",
        "line",
        "keeper",
    )


def _forecast(each: StepForecast) -> Answer:
    return _plain(
        each,
        "function",
        "sentence",
        "reason",
        "limit_bytes",
        "live_bytes",
        "need",
        "batches",
        "largest_batch",
        "origin",
    )


def _plain(message: Message, *names: str) -> Answer:
    """The named fields of a message as JSON values, without those that are not set."""
    values = {name: _value(getattr(message, name)) for name in names}
    return {name: value for name, value in values.items() if value not in (0, "", None, [], {})}


def _value(value: Any) -> Any:
    if isinstance(value, Message):
        names = [field.name for field in dataclasses.fields(value)]  # type: ignore[arg-type]
        return _plain(value, *(name for name in names if name != "frames"))
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, list):
        return [_value(item) for item in value[:ROWS]]
    return _short(value) if isinstance(value, str) else value


def _short(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS else text[: TEXT_CHARACTERS - 1] + "…"


def _left_out(total: int, what: str) -> Answer:
    return {f"{what}_left_out": total - ROWS} if total > ROWS else {}


def _size(text: str) -> int | None:
    try:
        return size_in_bytes(text) if text else None
    except ValueError as error:
        raise TraceError(f"{error}.") from None


def _group_by(name: str) -> GroupBy:
    try:
        return GroupBy[f"GROUP_{name.upper()}"]
    except KeyError:
        known = ", ".join(each.name.removeprefix("GROUP_").lower() for each in GroupBy)
        raise TraceError(f"{name!r} is nothing to group by; use one of {known}.") from None
