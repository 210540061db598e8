"""The reports that the flight recorder writes, of this version and of older ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_VERSION = 2


class ReportError(Exception):
    """A file is no report that this package can read; the message is one sentence."""


def read_report(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a `<host>.oom_report.json`; returns it in the form of proto/oom_report.schema.json.

    Raises:
      ReportError: it is no report, or one of a newer version.
      OSError: it cannot be read.
    """
    try:
        report = json.loads(Path(path).read_text())
    except ValueError:
        report = None
    if not isinstance(report, dict) or report.get("schema") != "oom_forensics.oom_report":
        raise ReportError(f"{os.fspath(path)} is no report of OOM Forensics.")
    version = report.get("version")
    if version == 1:
        _raise_from_1(report)
    elif version != _VERSION:
        raise ReportError(
            f"{os.fspath(path)} is of version {version}; this package reads up to {_VERSION}."
        )
    return report


def _raise_from_1(report: dict[str, Any]) -> None:
    """Shapes were text, "[8,16]", and empty where they were not known."""
    sites = [*report.get("live_by_site", []), *report.get("recent_allocations", [])]
    for site in (*sites, report.get("request", {})):
        shape = site.pop("shape", "")
        if shape:
            site["shape"] = json.loads(shape)
    report["version"] = _VERSION
