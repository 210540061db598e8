"""Takes one job through its out-of-memory, the advice, and what became of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from advice.apply import applied, knob_of, turned
from advice.corpus import Job
from advice.trial import Trials, run_into_oom
from advice.verdicts import forecast_of, last_oom
from advice.words import different_words

PROMISE = "ENOUGH_ALONE"
_HOPES = ("ENOUGH_ALONE", "REQUEST_FITS")
# The truth is sought to this part of it.
_SOUGHT_TO = 1.05
# Room in which every job of the corpus runs.
_AMPLE_MIB = 4096


class Advice(NamedTuple):
    """A remedy that was named, and what became of the job with it."""

    kind: str
    title: str
    grade: str
    needs_low_bytes: int
    needs_high_bytes: int
    # None: it was not tried, because it promises nothing or cannot be applied.
    held: bool | None
    # The most that was in use when it ran to its end; 0: not known.
    peak_bytes: int
    # A promised limit over the smallest with which it runs, or a promised batch over the
    # largest; None: not sought.
    over_truth: float | None


class Outcome(NamedTuple):
    """What was said of a job, and what was true of it."""

    job: Job
    # Empty: it did not run out of memory, or left no run.
    verdict: str
    sentence: str
    advice: list[Advice]
    # The most that it asks for at a time when there is room enough.
    peak_bytes: int
    # The peak that the step was forecast to have, over the orders; 0: no forecast.
    forecast_low_bytes: int
    forecast_high_bytes: int
    # Where it is not told in the same words everywhere; of what was recorded just now.
    different_words: tuple[str, ...] = ()

    @property
    def verdict_is_right(self) -> bool:
        """Whether the verdict is one of those that are true."""
        return self.verdict in self.job.verdicts

    @property
    def promises(self) -> list[Advice]:
        """The advice that promises that the whole step fits."""
        return [each for each in self.advice if each.grade == PROMISE]

    @property
    def cured(self) -> bool:
        """Whether a promise held."""
        return any(each.held for each in self.promises)

    @property
    def helped(self) -> bool:
        """Whether any remedy held, whatever it promised."""
        return any(each.held for each in self.advice)


def follow(
    job: Job, logdir: Path, trials: Trials, *, record: bool, seeks_truth: bool = True
) -> Outcome:
    """Runs the job into its OOM and follows every remedy that gives hope.

    Args:
      job: The job.
      logdir: Where its out-of-memory is recorded.
      trials: What is known of runs with changes.
      record: False: an out-of-memory that was recorded before is judged again.
      seeks_truth: Whether the smallest limit and the largest batch with which it runs are sought.
    """
    differences: list[str] = []
    if record or last_oom(logdir) is None:
        differences = different_words(run_into_oom(job, logdir).said)
    oom = last_oom(logdir)
    if oom is None:
        return Outcome(job, "", "", [], 0, 0, 0)
    advice = [_tried(job, remedy, trials, seeks_truth) for remedy in oom.get("remedies", [])]
    low_bytes, high_bytes = forecast_of(logdir, int(oom["index"]))
    return Outcome(
        job,
        oom["verdict"]["kind"],
        oom["verdict"]["sentence"],
        advice,
        trials.peak_bytes(job, _AMPLE_MIB),
        low_bytes,
        high_bytes,
        tuple(differences),
    )


def _tried(job: Job, remedy: dict[str, Any], trials: Trials, seeks_truth: bool) -> Advice:
    grade = remedy["sufficiency"]
    change = applied(job, remedy) if grade in _HOPES else None
    lived = trials.run(job, change) if change is not None else None
    held = lived is not None and lived.to_the_end
    return Advice(
        remedy["kind"],
        remedy["title"],
        grade,
        int(remedy.get("needsLowBytes", 0)),
        int(remedy.get("needsHighBytes", 0)),
        lived.to_the_end if lived else None,
        lived.peak_bytes if lived else 0,
        _over_truth(job, remedy, trials) if seeks_truth and held and grade == PROMISE else None,
    )


def _over_truth(job: Job, remedy: dict[str, Any], trials: Trials) -> float | None:
    """Returns what a promise that held names, over the least of it that is enough, by bisection."""
    knob = knob_of(job, remedy)
    if knob is None:
        return None
    runs, dies = knob.promised // knob.unit, knob.dies // knob.unit
    while abs(runs - dies) > 1 and max(runs, dies) > _SOUGHT_TO * min(runs, dies):
        middle = min(max(round(math.sqrt(runs * dies)), min(runs, dies) + 1), max(runs, dies) - 1)
        change = turned(job, remedy, knob, middle * knob.unit)
        if change is None:
            return None
        if trials.run(job, change).to_the_end:
            runs = middle
        else:
            dies = middle
    return knob.promised / (runs * knob.unit)


def from_json(line: str, jobs: dict[str, Job]) -> Outcome:
    """Reads what `as_json` made."""
    told = json.loads(line)
    advice = [Advice(**each) for each in told["advice"]]
    return Outcome(**{**told, "job": jobs[told["job"]], "advice": advice})


def as_json(outcome: Outcome) -> str:
    """Returns one line of JSON with all of an outcome."""
    flat = outcome._asdict() | {
        "job": outcome.job.name,
        "advice": [each._asdict() for each in outcome.advice],
    }
    return json.dumps(flat)
