"""How a remedy is applied to a job, as it is named and with another number."""

from __future__ import annotations

from typing import Any, NamedTuple

from advice.corpus import Job
from advice.trial import Change

_MIB = 1 << 20


def applied(job: Job, remedy: dict[str, Any]) -> Change | None:
    """Returns the job with the remedy, as its values and code say; None: it cannot be applied."""
    return _with(job, remedy, _set_values(remedy))


class Knob(NamedTuple):
    """The number of a remedy, between one with which the job runs and one with which it dies."""

    # "limitBytes" or "batchSize".
    name: str
    promised: int
    dies: int
    # The number is one of so many bytes or examples.
    unit: int


def knob_of(job: Job, remedy: dict[str, Any]) -> Knob | None:
    """Returns the number that a remedy names; None: it is of another kind."""
    values = _set_values(remedy)
    if "limitBytes" in values:
        return Knob("limitBytes", int(values["limitBytes"]), job.limit_mib * _MIB, _MIB)
    if "batchSize" in values:
        return Knob("batchSize", int(values["batchSize"]), int(values["batchSizeBefore"]), 1)
    return None


def turned(job: Job, remedy: dict[str, Any], knob: Knob, number: int) -> Change | None:
    """Returns the job with another number in the remedy; None: it cannot be applied."""
    return _with(job, remedy, {**_set_values(remedy), knob.name: number})


def _set_values(remedy: dict[str, Any]) -> dict[str, Any]:
    """Returns the values that are a part of the remedy."""
    values = remedy.get("values") or {}
    return {name: value for name, value in values.items() if value not in ("0", "", [], False)}


def _with(job: Job, remedy: dict[str, Any], values: dict[str, Any]) -> Change | None:
    kind = remedy["kind"]
    if "limitBytes" in values:
        return Change(int(values["limitBytes"]) // _MIB)
    if kind in job.options:
        return Change(job.limit_mib, tuple(job.options[kind].format(**values).split()))
    if values.get("runsBefore"):
        return Change(job.limit_mib, code=remedy["code"])
    return None
