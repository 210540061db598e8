"""`oom-forensics runs LOGDIR`: which runs there are, as the tab lists them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from oom_forensics.core.errors import OomForensicsError
from oom_forensics.core.sizes import size_text
from oom_forensics.logdir.runs import Run, scan
from oom_forensics.remote.addresses import is_url, whole_path


def main(arguments: Sequence[str]) -> int:
    """Prints the runs of a logdir, the newest first; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="oom-forensics runs", description="Lists the runs of a logdir, the newest first."
    )
    parser.add_argument("logdir", help="a folder, or a URL")
    parser.add_argument("--search", default="", help="only runs whose name contains this text")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    options = parser.parse_args(arguments)
    logdir = whole_path(options.logdir)
    try:
        # What cannot be read holds no run either: say which it is.
        if not is_url(logdir):
            next(Path(logdir).iterdir(), None)
    except OSError as error:
        because = os.strerror(error.errno or 0)
        raise OomForensicsError(f"Cannot read {logdir}: {because}.") from None
    runs = [run for run in scan({logdir: ""}) if options.search.lower() in run.name.lower()]
    if options.json:
        print(json.dumps([_described(run) for run in runs], indent=2))
        return 0
    if not runs:
        which = f" whose name contains {options.search!r}" if options.search else ""
        raise OomForensicsError(f"There is no run{which} in {logdir}.")
    width = max(len(run.name) for run in runs)
    for run in runs:
        hosts = f"{len(run.files)} hosts" if len(run.files) > 1 else run.files[0].host
        print(f"{run.name:<{width}}  {_time_of(run)}  {size_text(run.size_bytes):>12}  {hosts}")
    return 0


def _time_of(run: Run) -> str:
    written = datetime.fromtimestamp(run.modified_ns / 1e9, timezone.utc)
    return written.strftime("%Y-%m-%d %H:%M:%S UTC")


def _described(run: Run) -> dict[str, object]:
    return {
        "run": run.name,
        "folder": run.folder,
        "hosts": [file.host for file in run.files],
        "size_bytes": run.size_bytes,
        "modified_ns": run.modified_ns,
    }
