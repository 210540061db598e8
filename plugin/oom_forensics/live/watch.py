"""`oom-forensics watch [PID|LOGDIR]`: a running job in the terminal.

    oom-forensics watch            # the newest job of this machine
    oom-forensics watch 1234 --json

Use, peak and limit come from the job itself, once a second; who holds the memory, and what a step
needs, comes from a snapshot that the converter reads, taken as seldom as keeps its cost below a
fiftieth of the job.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from oom_forensics.core.sizes import size_text
from oom_forensics.datasets import AllocationGroup, GroupBy, StepUse
from oom_forensics.live.jobs import LiveError, LiveProcess, command_of, find_process
from oom_forensics.trace import Trace, TraceError

EXIT_DONE = 0
# Of the job's time, what snapshots may take.
_SNAPSHOT_SHARE = 0.02
_HOLDERS = 5
# Steps that the next one is taken to be like; the first ones make what all others use.
_LIKE_STEPS = 20


@dataclass
class StepForecast:
    """What the step under way is expected to use of an allocator."""

    allocator: str
    step_bytes: int
    """The most that one of the last steps used beyond what was in use as it began."""
    peak_bytes: int
    """With what was in use as the step began."""


@dataclass
class Snapshot:
    """What the job's last snapshot told."""

    layers: list[AllocationGroup] = field(default_factory=list)
    lines: list[AllocationGroup] = field(default_factory=list)
    forecasts: list[StepForecast] = field(default_factory=list)


@dataclass
class Sample:
    """What is known of the job at one moment."""

    state: dict[str, Any]
    snapshot: Snapshot


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "watch"."""
    options = _parser().parse_args(list(arguments))
    with contextlib.suppress(KeyboardInterrupt), LiveProcess(find_process(options.job)) as process:
        samples = _samples(process, options.interval, options.samples, options.holders)
        if options.json:
            for sample in samples:
                print(json.dumps(_described(sample)), flush=True)
        else:
            _show(samples, command_of(process.pid))
    return EXIT_DONE


def _samples(
    process: LiveProcess, interval_s: float, count: int, holders: bool
) -> Iterator[Sample]:
    """A sample each interval, until the job ends.

    Raises:
      LiveError: It could not be asked even once.
    """
    snapshot = Snapshot()
    next_snapshot_s = 0.0
    taken = 0
    while not count or taken < count:
        try:
            state = process.state()
        except LiveError:
            # It ended: that is how a job ends.
            if taken:
                return
            raise
        began_s = time.monotonic()
        if holders and began_s >= next_snapshot_s:
            try:
                snapshot = _snapshot(process)
            except (LiveError, TraceError):
                # Of a job that allocates nothing yet, or that ends right now.
                snapshot = Snapshot()
            took_s = time.monotonic() - began_s
            next_snapshot_s = began_s + max(interval_s, took_s / _SNAPSHOT_SHARE)
        yield Sample(state, snapshot)
        taken += 1
        time.sleep(interval_s)


def _snapshot(process: LiveProcess) -> Snapshot:
    with tempfile.TemporaryDirectory(prefix="oom_forensics_watch_") as folder:
        run = process.snapshot(Path(folder))
        with Trace(run) as trace:
            layers, lines = (
                trace.allocations(at="end", group_by=group_by, limit=1).groups[:_HOLDERS]
                for group_by in (GroupBy.GROUP_SCOPE, GroupBy.GROUP_LINE)
            )
            forecasts = list(_forecasts(trace.steps().steps))
    return Snapshot(layers, lines, forecasts)


def _forecasts(steps: Sequence[StepUse]) -> Iterator[StepForecast]:
    by_allocator: dict[str, list[StepUse]] = {}
    for step in steps:
        by_allocator.setdefault(step.allocator, []).append(step)
    for allocator, (*complete, under_way) in by_allocator.items():
        if complete:
            step_bytes = max(
                step.peak.in_use_bytes - step.begin_in_use_bytes for step in complete[-_LIKE_STEPS:]
            )
            yield StepForecast(allocator, step_bytes, under_way.begin_in_use_bytes + step_bytes)


def _described(sample: Sample) -> dict[str, Any]:
    return {
        **sample.state,
        "layers": [_group(each) for each in sample.snapshot.layers],
        "lines": [_group(each) for each in sample.snapshot.lines],
        "forecasts": [asdict(each) for each in sample.snapshot.forecasts],
    }


def _group(group: AllocationGroup) -> dict[str, Any]:
    return {"key": group.key, "allocated_bytes": group.allocated_bytes, "count": group.count}


def _show(samples: Iterator[Sample], command: str) -> None:
    console = Console()
    if not console.is_terminal:
        for sample in samples:
            console.print(_one_line(sample), soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False) as live:
        for sample in samples:
            live.update(_picture(sample, command), refresh=True)
    console.print("The job has ended.")


def _picture(sample: Sample, command: str) -> Group:
    state = sample.state
    title = Text(f"{command}  (process {state['pid']})", style="bold", no_wrap=True)
    facts = f"TensorFlow {state['tensorflow_version']}"
    if "step" in state:
        facts += f", step {state['step']}"
    if state["out_of_memories"]:
        facts += f", {state['out_of_memories']} out-of-memories"
    allocators = Table(
        "allocator", "", "in use", "peak", "reserved", "limit", "a step's peak", "growth", box=None
    )
    for each in state["allocators"]:
        limit = each.get("limit_bytes", 0)
        in_use = each.get("in_use_bytes", 0)
        allocators.add_row(
            each["name"],
            ProgressBar(total=limit, completed=in_use, width=20) if limit else "",
            *(
                size_text(each[key]) if each.get(key) else ""
                for key in ("in_use_bytes", "peak_in_use_bytes", "reserved_bytes", "limit_bytes")
            ),
            _forecast(sample, each["name"]),
            _growth(state, each["name"]),
        )
    holders = Table("holds most, by layer", "", "by line", "", box=None)
    layers, lines = sample.snapshot.layers, sample.snapshot.lines
    for row in range(max(len(layers), len(lines))):
        holders.add_row(*_cells(layers, row), *_cells(lines, row))
    return Group(title, facts, "", allocators, "", holders)


def _cells(groups: list[AllocationGroup], row: int) -> tuple[str, str]:
    if row >= len(groups):
        return "", ""
    group = groups[row]
    name = f"{Path(group.line.file).name}:{group.line.line}" if group.line.file else group.key
    return name, size_text(group.allocated_bytes)


def _forecast(sample: Sample, allocator: str) -> str:
    for each in sample.snapshot.forecasts:
        if _is_same(each.allocator, allocator):
            return f"{size_text(each.peak_bytes)} (+{size_text(each.step_bytes)})"
    return ""


def _is_same(one: str, other: str) -> bool:
    return one.partition("#")[0] == other.partition("#")[0]


def _growth(state: dict[str, Any], allocator: str) -> str:
    for trend in state["trends"]:
        if _is_same(trend["allocator"], allocator):
            text = f"+{size_text(round(trend['bytes_per_second']))}/s"
            left_s = trend.get("seconds_until_full")
            return text if left_s is None else f"{text}, full in {_duration(left_s)}"
    return ""


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _one_line(sample: Sample) -> str:
    state = sample.state
    parts = [f"step {state['step']}"] if "step" in state else []
    for each in state["allocators"]:
        limit = f" of {size_text(each['limit_bytes'])}" if each.get("limit_bytes") else ""
        forecast = _forecast(sample, each["name"])
        growth = _growth(state, each["name"])
        parts.append(
            f"{each['name']}: {size_text(each.get('in_use_bytes', 0))}{limit} in use,"
            f" peak {size_text(each.get('peak_in_use_bytes', 0))}"
            + (f", a step's peak {forecast}" if forecast else "")
            + (f", {growth}" if growth else "")
        )
    layers, lines = sample.snapshot.layers, sample.snapshot.lines
    # A snapshot has the lines of eager ops alone.
    if most := lines if lines and lines[0].line.file else layers:
        name, size = _cells(most, 0)
        parts.append(f"most: {size} of {name}")
    return "; ".join(parts) or "no allocator yet"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oom-forensics watch",
        description="Shows a running job's memory: in use, peak, limit, growth, who holds it, and"
        " when it will not fit. The job needs nothing but the collector.",
    )
    parser.add_argument(
        "job", nargs="?", default="", metavar="PID|LOGDIR", help="default: the newest job"
    )
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between samples; 1")
    parser.add_argument(
        "--samples", type=int, default=0, help="number of samples; 0: until the job ends"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line and sample")
    parser.add_argument(
        "--no-holders",
        dest="holders",
        action="store_false",
        help="take no snapshots: show only use, growth and limits",
    )
    return parser
