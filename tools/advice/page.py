"""The page that shows what the advice is worth: docs/advice.md."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from advice.follow import PROMISE, Advice, Outcome

_MIB = 1 << 20

_HEAD = """# What the advice is worth

Written by `tools/try_advice`, which runs every job of [`tests/jobs`](../tests/jobs) into its
out-of-memory, follows every remedy that gives hope, and runs the job again to its end. Of every
promise that held it then seeks the truth by bisection, to 3 %: the smallest limit, or the largest
batch, with which the job runs to its end.

*Promise*: a remedy graded `ENOUGH_ALONE`. The other grades promise nothing: `REQUEST_FITS` knows of
the refused request only. A verdict is right where it is one of those that `truth.json` calls true.

*Peak with room*: the most that the whole job had asked for at a time, recorded in a pool of 4 GiB.
*Forecast*: the peak of the step that was refused, from the order of its ops that needs least to the
one that needs most, what was live before it included. Both are bytes that were asked for; the limit
that is enough is larger, as the allocator cannot use all of it. There is none where the step had no
graph, or where the sizes of some of its ops are not known. It is not compared where the verdict is
that each round or step keeps more (`LEAK_LIKE`, `RETAINED`): the job's peak is then in a later one.
"""

# The forecast is of one step, the peak of the whole job: so much is no difference.
_ALIKE = 0.05
# The highest order may be so much above the truth.
_MOST_ABOVE = 1.35


def page(outcomes: list[Outcome], corpus: int) -> str:
    """Returns the page as Markdown.

    Args:
      outcomes: Of the jobs, in the order of the page.
      corpus: How many jobs there are.
    """
    lines = [
        _HEAD,
        f"{len(outcomes)} of the {corpus} jobs of the corpus were taken through it.",
        "",
        "## In all",
        "",
        *_totals(outcomes),
        "",
        "## By job",
        "",
        *_jobs(outcomes),
    ]
    lines += ["", "## By remedy", "", *_remedies(outcomes), ""]
    return "\n".join(lines)


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
        f" {_share(sum(o.cured for o in curable), len(curable))} | |"
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
    yield _median_of(promises, "larger_limit", "limit over the smallest that runs", "at most 1.10")
    yield _median_of(promises, "smaller_batch", "batch over the largest that runs", "at least 0.9")
    lucky = sum(bool(h.held) for h in hopes)
    yield f"| remedies that promised nothing, and held | {_share(lucky, len(hopes))} | |"
    yield f"| promises that the corpus cannot apply | {len(promises) - len(tried)} | |"


def _median_of(promises: list[Advice], kind: str, what: str, aim: str) -> str:
    ratios = sorted(p.over_truth for p in promises if p.kind == kind and p.over_truth is not None)
    measured = (
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, {len(ratios)} jobs)"
        if ratios
        else "none"
    )
    return f"| promised {what}, median | {measured} | {aim} |"


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
    yield "| job | why it dies | verdict | | peak with room, MiB | forecast, MiB |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for outcome in outcomes:
        right = "✓" if outcome.verdict_is_right else f"**✗** {' or '.join(outcome.job.verdicts)}"
        peak = _mib(outcome.peak_bytes) if outcome.peak_bytes else ""
        forecast = (
            f"{_mib(outcome.forecast_low_bytes)} to {_mib(outcome.forecast_high_bytes)}"
            if outcome.forecast_high_bytes
            else ""
        )
        yield (
            f"| `{outcome.job.name}` in {outcome.job.limit_mib} MiB |"
            f" {outcome.job.because} |"
            f" {outcome.verdict or 'no out-of-memory'} | {right} |"
            f" {peak} | {forecast} |"
        )


def _became(advice: Advice) -> str:
    if advice.held is None:
        return "not tried"
    if not advice.held:
        return "**ran out of memory again**" if advice.grade == PROMISE else "out of memory again"
    if advice.over_truth is None:
        return "ran to the end"
    return f"ran to the end; {advice.over_truth:.2f} of the truth"


def _remedies(outcomes: list[Outcome]) -> Iterable[str]:
    yield "| job | remedy | grade | what became of it |"
    yield "| --- | --- | --- | --- |"
    for outcome in outcomes:
        for advice in outcome.advice:
            yield (
                f"| `{outcome.job.name}` | {advice.title} | {advice.grade} | {_became(advice)} |"
            )
