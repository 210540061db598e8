"""The page that shows what the advice is worth: docs/advice.md."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable

from advice.follow import PROMISE, Advice, Outcome

_MIB = 1 << 20

_HEAD = """# What the advice is worth

`tools/try_advice` writes this page. It runs each job into its out-of-memory, follows every remedy
that gives hope, and runs the job again to its end. For each promise that held, it then seeks the
truth by bisection, to 5 %: the smallest limit, or the largest batch, with which the job runs.

*Promise*: a remedy graded `ENOUGH_ALONE`. The other grades promise nothing. *Peak with room*: the
most that the whole job had asked for at a time, in a pool of 4 GiB. *Forecast*: the peak of the
step that was refused, what was live before it included, from the order of its ops that needs least
to the one that needs most. Both are bytes that were asked for: the limit that is enough is larger.
They are not compared where each round or step keeps more (`LEAK_LIKE`, `RETAINED`), as the job's
peak is then in a later one.

In the tables, **✓** is a promise that held, with what it names over the truth where that was
sought; **✗** is one that broke. What stands in parentheses was no promise: ✓ it ran to its end all
the same, ✗ it ran out of memory again.
"""

# Kinds of remedy that name a number, and where it stands in their title.
_NUMBERED = {
    "smaller_batch": re.compile(r"batch of (\d+) instead of (\d+)"),
    "larger_limit": re.compile(r"at least (.+) instead of (.+)\."),
}

# The forecast is of one step, the peak of the whole job: so much is no difference.
_ALIKE = 0.05
# The highest order may be so much above the truth.
_MOST_ABOVE = 1.35


def page(title: str, note: str, outcomes: list[Outcome], before: str) -> str:
    """Returns the page as Markdown, with one section made anew.

    Args:
      title: Of the section.
      note: What the jobs are.
      outcomes: Of the jobs, in the order of the section.
      before: The page as it was; its other sections stay.
    """
    made = "\n".join(
        [title, "", note, "", *_totals(outcomes), "", *_jobs(outcomes)],
    )
    sections = {
        each.partition("\n")[0]: each.strip()
        for each in ("\n" + before).split("\n## ")[1:]
        if each.partition("\n")[0] not in ("In all", "By job", "By remedy")
    }
    sections[title] = made
    return "\n## ".join([_HEAD, *(f"{each}\n" for each in sections.values())])


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def _totals(outcomes: list[Outcome]) -> Iterable[str]:
    promises = [each for outcome in outcomes for each in outcome.promises]
    tried = [each for each in promises if each.held is not None]
    hopes = [
        each
        for outcome in outcomes
        for each in outcome.advice
        if each.grade != PROMISE and each.held is not None
    ]
    curable = [outcome for outcome in outcomes if outcome.job.curable]
    forecasts = [each for each in outcomes if _is_compared(each)]
    contained = [each for each in forecasts if _contains(each)]
    close = [
        each for each in forecasts if each.forecast_high_bytes <= _MOST_ABOVE * each.peak_bytes
    ]
    yield "| | measured | aim |"
    yield "| --- | --- | --- |"
    yield f"| promises that held | {_share(sum(bool(p.held) for p in tried), len(tried))} | 95 % |"
    yield (
        "| verdicts right |"
        f" {_share(sum(o.verdict_is_right for o in outcomes), len(outcomes))} | 90 % |"
    )
    yield (
        "| jobs with a promise that held, of those that have a cure |"
        f" {_share(sum(o.cured for o in curable), len(curable))} | 90 % |"
    )
    yield (
        "| jobs with any remedy that held, of those that have a cure |"
        f" {_share(sum(o.helped for o in curable), len(curable))} | 90 % |"
    )
    yield (
        f"| forecasts whose range contains the measured peak, to {_ALIKE:.0%} |"
        f" {_share(len(contained), len(forecasts))} | 90 % |"
    )
    yield (
        f"| forecasts whose upper end is at most {_MOST_ABOVE} times it |"
        f" {_share(len(close), len(forecasts))} | 90 % |"
    )
    over_peaks = [over for outcome in outcomes if (over := _limit_over_peak(outcome))]
    yield _median("promised limit over the peak with room", over_peaks, "")
    yield _median_of(promises, "larger_limit", "limit over the smallest that runs", "at most 1.10")
    yield _median_of(promises, "smaller_batch", "batch over the largest that runs", "at least 0.9")
    lucky = sum(bool(h.held) for h in hopes)
    yield f"| remedies that promised nothing, and held | {_share(lucky, len(hopes))} | |"
    yield f"| promises that the corpus cannot apply | {len(promises) - len(tried)} | |"


def _median_of(promises: list[Advice], kind: str, what: str, aim: str) -> str:
    ratios = [p.over_truth for p in promises if p.kind == kind and p.over_truth is not None]
    return _median(f"promised {what}", ratios, aim)


def _median(what: str, ratios: list[float], aim: str) -> str:
    measured = (
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f},"
        f" {len(ratios)} jobs)"
        if ratios
        else "none"
    )
    return f"| {what}, median | {measured} | {aim} |"


def _limit_over_peak(outcome: Outcome) -> float | None:
    """A promised limit over what the job asked for at once: no less than that over the truth."""
    for advice in outcome.promises:
        if advice.kind == "larger_limit" and advice.held and outcome.peak_bytes:
            number, unit = _named(advice).split()
            return float(number) * {"MiB": _MIB, "GiB": _MIB << 10}[unit] / outcome.peak_bytes
    return None


def _is_compared(outcome: Outcome) -> bool:
    """Whether the forecast of the step says something of the peak of the whole job.

    Not where the verdict is that each round or step keeps more: the peak is then in a later one.
    """
    return bool(
        outcome.forecast_high_bytes
        and outcome.peak_bytes
        and outcome.verdict not in ("LEAK_LIKE", "RETAINED")
    )


def _contains(outcome: Outcome) -> bool:
    return (
        outcome.forecast_low_bytes <= (1 + _ALIKE) * outcome.peak_bytes
        and outcome.forecast_high_bytes >= (1 - _ALIKE) * outcome.peak_bytes
    )


def _mib(bytes_: int) -> str:
    return f"{bytes_ / _MIB:.0f}"


def _jobs(outcomes: list[Outcome]) -> Iterable[str]:
    yield "| job | verdict | peak with room, MiB | forecast, MiB | batch | limit, MiB | others |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for outcome in outcomes:
        right = "✓" if outcome.verdict_is_right else f"**✗** {' or '.join(outcome.job.verdicts)}"
        peak = _mib(outcome.peak_bytes) if outcome.peak_bytes else ""
        forecast = (
            f"{_mib(outcome.forecast_low_bytes)} to {_mib(outcome.forecast_high_bytes)}"
            if outcome.forecast_high_bytes
            else ""
        )
        others = [
            f"{each.kind} {_became(each)}"
            for each in outcome.advice
            if each.kind not in _NUMBERED and each.held is not None
        ]
        yield (
            f"| `{outcome.job.name}` in {outcome.job.limit_mib} MiB |"
            f" {outcome.verdict or 'no out-of-memory'} {right} |"
            f" {peak} | {forecast} |"
            f" {_numbered(outcome, 'smaller_batch')} | {_numbered(outcome, 'larger_limit')} |"
            f" {', '.join(others)} |"
        )


def _named(advice: Advice) -> str:
    found = _NUMBERED[advice.kind].search(advice.title)
    return found[1] if found else ""


def _numbered(outcome: Outcome, kind: str) -> str:
    for advice in outcome.advice:
        if advice.kind == kind and advice.held is not None:
            return f"{_named(advice).removesuffix(' MiB').removesuffix('.0')} {_became(advice)}"
    return ""


def _became(advice: Advice) -> str:
    """What became of a remedy that was followed, as the page's head explains it."""
    sign = "✓" if advice.held else "✗"
    if advice.grade != PROMISE:
        return f"({sign})"
    return f"**{sign}**" + ("" if advice.over_truth is None else f" {advice.over_truth:.2f}")
