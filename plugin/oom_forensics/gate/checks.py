"""Measures a run against a budget and a baseline run. The numbers are the converter's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from oom_forensics.core.sizes import size_text
from oom_forensics.datasets import AllocationGroup, Filter, GroupBy
from oom_forensics.gate.budget import Budget, Production
from oom_forensics.trace import Trace, TraceError

# Layers that the story of a peak's growth names, and lines that hold most of it.
_NAMED = 3


@dataclass(frozen=True)
class Finding:
    """One check of a budget."""

    name: str
    """The budget's key, and the allocator or layer that it was measured of."""
    passed: bool
    sentence: str
    """What was measured, and what the budget allows."""
    measured: float = 0
    """Bytes, or a share."""
    allowed: float = 0


@dataclass(frozen=True)
class Growth:
    """A layer that holds more at the peak than in the baseline."""

    layer: str
    bytes: int
    line: str
    """Where most of it is made, "model.py:88"; empty: not recorded."""

    def __str__(self) -> str:
        return f"{size_text(self.bytes)} in {self.layer}" + (f" ({self.line})" if self.line else "")


@dataclass(frozen=True)
class Gate:
    """What a run was found to be."""

    run: str
    story: str
    """One line: the peak, and beside a baseline what it grew by, and where."""
    findings: list[Finding]
    growth: list[Growth] = field(default_factory=list)
    """Beside a baseline: layers by growth, the largest first."""
    holders: list[str] = field(default_factory=list)
    """Who holds most at the peak, where the budget is exceeded: "57.1 MiB of train.py:21"."""

    @property
    def passed(self) -> bool:
        """Whether the run keeps its budget."""
        return all(finding.passed for finding in self.findings)


def check(run: Trace, budget: Budget, baseline: Trace | None = None) -> Gate:
    """Measures `run`.

    Raises:
      TraceError: a trace cannot be read, or has none of the allocators.
    """
    peaks = _peaks(run, budget)
    # The allocator that is meant, if it is one; else all are compared together.
    only = Filter(allocator=next(iter(peaks)) if budget.allocator and len(peaks) == 1 else "")
    findings = list(_out_of_memories(run, budget))
    if budget.peak is not None:
        findings += [
            _at_most(f"peak of {name}", peak, budget.peak, "in use at the peak")
            for name, peak in peaks.items()
        ]
    growth: list[Growth] = []
    listed = ", ".join(f"{size_text(peak)} of {name}" for name, peak in peaks.items())
    story = f"The peak is {listed}."
    if baseline is not None:
        before = _peaks(baseline, budget)
        growth = _growth(run, baseline, budget, only)
        story = _story(peaks, before, growth) + _versions(baseline, run)
        findings += _growth_findings(peaks, before, growth, budget)
    if budget.fragmentation is not None:
        findings += _fragmentation(run, budget, budget.fragmentation)
    if budget.leak_per_step is not None:
        findings += _leaks(run, budget, budget.leak_per_step)
    if budget.production is not None:
        findings.append(_production(run, budget.production, only))
    over = not all(finding.passed for finding in findings)
    return Gate(run.path, story, findings, growth, _holders(run, only) if over else [])


def _kept(name: str, budget: Budget) -> bool:
    return budget.allocator in name


def _peaks(trace: Trace, budget: Budget) -> dict[str, int]:
    """The most in use at once, by allocator; of several hosts the largest."""
    peaks: dict[str, int] = {}
    for host in trace.info().hosts:
        for each in host.allocators:
            if _kept(each.allocator, budget):
                peaks[each.allocator] = max(peaks.get(each.allocator, 0), each.peak_in_use_bytes)
    if not peaks:
        which = f" whose name has {budget.allocator!r}" if budget.allocator else ""
        raise TraceError(f"{trace.path} has no allocator{which}.")
    return peaks


def _at_most(name: str, measured: int, allowed: int, what: str) -> Finding:
    over = measured - allowed
    verdict = f", {size_text(over)} over" if over > 0 else ", within"
    return Finding(
        name,
        over <= 0,
        f"{size_text(measured)} {what}{verdict} the budget of {size_text(allowed)}.",
        measured,
        allowed,
    )


def _out_of_memories(run: Trace, budget: Budget) -> Iterator[Finding]:
    ooms = [each for each in run.oom_window().ooms if _kept(each.allocator, budget)]
    for oom in ooms:
        if oom.incident == oom.index:
            yield Finding("out_of_memory", budget.out_of_memory, oom.verdict.sentence)
    if not ooms:
        yield Finding("out_of_memory", True, "The run did not run out of memory.")


def _growth(run: Trace, baseline: Trace, budget: Budget, only: Filter) -> list[Growth]:
    rows = baseline.compare(
        at="peak", other="peak", other_trace=run, group_by=GroupBy.GROUP_SCOPE, only=only
    ).rows
    grown = sorted((row for row in rows if row.delta_bytes > 0), key=lambda row: -row.delta_bytes)
    return [
        # Of each layer that is named or checked; a line costs a question.
        Growth(row.key, row.delta_bytes, _line_of(run, row.key, only.allocator))
        for row in grown
        if row.delta_bytes >= _floor(grown[0].delta_bytes, budget)
    ]


def _floor(largest: int, budget: Budget) -> int:
    """Growth below it is neither named nor checked."""
    hundredth = largest // 100
    return hundredth if budget.layer_growth is None else min(hundredth, budget.layer_growth + 1)


def _holders(run: Trace, only: Filter) -> list[str]:
    return [
        f"{size_text(group.allocated_bytes)} of {_place(group) or group.key}"
        for group in _lines_at_peak(run, only)[:_NAMED]
    ]


def _lines_at_peak(run: Trace, only: Filter) -> list[AllocationGroup]:
    return run.allocations(at="peak", group_by=GroupBy.GROUP_LINE, limit=1, only=only).groups


def _place(group: AllocationGroup) -> str:
    return f"{PurePath(group.line.file).name}:{group.line.line}" if group.line.file else ""


def _line_of(run: Trace, scope: str, allocator: str) -> str:
    """Returns where most of a scope's group was made.

    The key of ops without a scope, "(eager ops)/AddV2", names their type.
    """
    nameless, _, op_type = scope.partition("/")
    if nameless.startswith("("):
        only = Filter(search=op_type, allocator=allocator)
    else:
        only = Filter(scope=scope, allocator=allocator)
    return next(filter(None, map(_place, _lines_at_peak(run, only))), "")


def _story(peaks: dict[str, int], before: dict[str, int], growth: list[Growth]) -> str:
    change = max(peaks.values()) - max(before.values())
    sign = "+" if change >= 0 else ""
    story = f"The peak is {size_text(max(peaks.values()))}, {sign}{size_text(change)}"
    if change > 0 and growth:
        story += ", of it " + ", ".join(map(str, growth[:_NAMED]))
    return story + "."


def _versions(baseline: Trace, run: Trace) -> str:
    """Says so where the two ran on different versions of TensorFlow."""
    versions = [
        sorted({host.tensorflow_version for host in trace.info().hosts if host.tensorflow_version})
        for trace in (baseline, run)
    ]
    if not all(versions) or versions[0] == versions[1]:
        return ""
    before, after = (" and ".join(each) for each in versions)
    return f" The baseline ran on TensorFlow {before}, this run on {after}."


def _growth_findings(
    peaks: dict[str, int], before: dict[str, int], growth: list[Growth], budget: Budget
) -> Iterator[Finding]:
    if budget.peak_growth is not None:
        for name, peak in peaks.items():
            grown = peak - before.get(name, 0)
            yield _at_most(f"peak_growth of {name}", grown, budget.peak_growth, "more at the peak")
    if budget.layer_growth is not None:
        allowed = budget.layer_growth
        too_much = [each for each in growth if each.bytes > allowed]
        for each in too_much:
            where = f"more in {each.layer}" + (f" ({each.line})" if each.line else "")
            yield _at_most(f"layer_growth of {each.layer}", each.bytes, allowed, where)
        if not too_much:
            sentence = f"No layer grew by more than {size_text(allowed)}."
            yield Finding("layer_growth", True, sentence, allowed=allowed)


def _fragmentation(run: Trace, budget: Budget, allowed: float) -> Iterator[Finding]:
    for each in run.fragmentation(at="peak").maps:
        # Without regions it has no layout.
        if not each.regions or not _kept(each.allocator, budget):
            continue
        measured = each.measures.bfc_fragmentation
        yield Finding(
            f"fragmentation of {each.allocator}",
            measured <= allowed,
            f"{measured:.0%} of the free bytes lie outside the largest hole at the peak;"
            f" the budget is {allowed:.0%}.",
            measured,
            allowed,
        )


def _leaks(run: Trace, budget: Budget, allowed: int) -> Iterator[Finding]:
    leaks = [each for each in run.leaks().leaks if _kept(each.allocator, budget)]
    too_much = [each for each in leaks if each.bytes_per_step > allowed]
    for each in too_much:
        name = f"leak_per_step of {each.op_name}"
        yield Finding(name, False, each.sentence, each.bytes_per_step, allowed)
    if not too_much:
        yield Finding("leak_per_step", True, "Nothing grows from step to step.", allowed=allowed)


def _production(run: Trace, production: Production, only: Filter) -> Finding:
    """The recorded requests, as the job of production makes them."""
    scale = 0.0
    if production.batch is not None:
        recorded = run.what_if(find_smallest_limit=False, only=only).batch_size
        if not recorded:
            sentence = "The run does not show the size of its batch, so another cannot be tried."
            return Finding("production", False, sentence)
        scale = production.batch / recorded
    answer = run.what_if(limit=production.limit, batch_scale=scale, only=only)
    return Finding(
        "production",
        answer.fits,
        answer.sentence,
        answer.smallest_limit_bytes,
        production.limit or 0,
    )
