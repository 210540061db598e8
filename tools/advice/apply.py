"""How a remedy is applied to a job, and how a little less of it would be."""

from __future__ import annotations

from typing import Any

from advice.corpus import Job
from advice.trial import Change

_MIB = 1 << 20
# A bound that can be undercut by more than this is slack.
_SLACK = 1.35


def applied(job: Job, remedy: dict[str, Any]) -> Change | None:
    """Returns the job with the remedy, as its values and code say; None: it cannot be applied."""
    return _with(job, remedy, _set_values(remedy))


def with_less(job: Job, remedy: dict[str, Any]) -> Change | None:
    """Returns the job with a remedy that should not be enough; None: there is no such."""
    values = _set_values(remedy)
    if "limitBytes" in values:
        limit_bytes = int(int(values["limitBytes"]) / _SLACK)
        if limit_bytes <= job.limit_mib * _MIB:
            return None
        return _with(job, remedy, {**values, "limitBytes": limit_bytes})
    if "batchSize" in values:
        larger = int(values["batchSize"]) * 2
        if larger >= int(values["batchSizeBefore"]):
            return None
        return _with(job, remedy, {**values, "batchSize": larger})
    return None


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
