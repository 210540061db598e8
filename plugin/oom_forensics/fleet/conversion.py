"""One run into rows, by the converter in a process of its own.

The worker that calls this outlives whatever a trace does to the converter: what cannot be
converted within its limits is a row of `errors`.
"""

from __future__ import annotations

import json
import os
import posixpath
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from oom_forensics.converter.process import CODE_CANCELLED, ConverterError, ConverterProcess, Limits
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.datasets import Query
from oom_forensics.fleet.run_finder import FleetRun
from oom_forensics.fleet.run_rows import Rows, rows_of_run
from oom_forensics.fleet.schema import TABLES
from oom_forensics.fleet.storage import is_local
from oom_forensics.logdir.runs import TRACE_SUFFIX
from oom_forensics.message import Message
from oom_forensics.remote.filesystems import open_filesystem

_Answer = TypeVar("_Answer", bound=Message)


@dataclass(frozen=True)
class RunLimits:
    """What the conversion of one run may take."""

    seconds: float = 120.0
    memory_bytes: int = 2 << 30
    """Of the converter, beyond the mapped trace."""
    run_bytes: int = 4 << 30
    """Of the run's traces; larger ones are not looked at."""


class _RunError(OomForensicsError):
    """A run that cannot be converted; the message is one sentence."""

    def __init__(self, sentence: str, exit_code: int | None = None) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Converted:
    """The rows of a run: of `errors` alone where it could not be converted."""

    day: str
    """The partition of its rows, "2026-11-22": when it ended, in UTC."""
    rows: Rows

    @property
    def failed(self) -> bool:
        """Whether the run could not be converted."""
        return "errors" in self.rows


def convert(run: FleetRun, limits: RunLimits) -> Converted:
    """Returns the rows of a run; never raises for what lies in the run."""
    begin = time.monotonic()
    try:
        with _local_path(run, limits) as path:
            rows, ended_ns = _ask(run, path, limits, begin + limits.seconds)
    except (OomForensicsError, OSError, ValueError) as error:
        # ValueError: an answer that is not of this package's schema.
        failure = TABLES["errors"].row(
            **_described(run),
            sentence=str(error),
            exit_code=getattr(error, "exit_code", None),
            elapsed_ms=int((time.monotonic() - begin) * 1000),
        )
        return Converted(_day(run.modified_ns), _with_keys({"errors": [failure]}, run))
    rows["runs"][0].update(_described(run))
    return Converted(_day(ended_ns or run.modified_ns), _with_keys(rows, run))


def _described(run: FleetRun) -> dict[str, Any]:
    return {
        "url": run.url,
        "name": run.name,
        "version": run.version,
        "file_bytes": run.size_bytes,
        "modified_ns": run.modified_ns,
    }


def _with_keys(rows: Rows, run: FleetRun) -> Rows:
    keys = {"run_id": run.run_id, "job": run.job}
    return {table: [{**keys, **row} for row in some] for table, some in rows.items()}


def _day(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, timezone.utc).strftime("%Y-%m-%d")


@contextmanager
def _local_path(run: FleetRun, limits: RunLimits) -> Iterator[str]:
    """Yields where the run lies on this machine; a remote one is fetched for so long."""
    if run.size_bytes > limits.run_bytes:
        raise _RunError(
            f"Its traces have {run.size_bytes} bytes, more than the {limits.run_bytes >> 20} MiB"
            " that --run-mib allows."
        )
    filesystem, path = open_filesystem(run.url)
    if is_local(filesystem):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="oom_forensics_fleet_") as folder:
        for url in run.files:
            filesystem.get_file(
                open_filesystem(url)[1], os.path.join(folder, posixpath.basename(url))
            )
        yield folder if len(run.files) > 1 else str(next(Path(folder).iterdir()))


def _ask(run: FleetRun, path: str, limits: RunLimits, deadline: float) -> tuple[Rows, int]:
    converter = ConverterProcess(path, Limits(limits.memory_bytes, limits.seconds))

    def in_time() -> bool:
        return time.monotonic() < deadline

    def ask(answer: type[_Answer], query: Query) -> _Answer:
        if not in_time():
            raise ConverterError("There is no time left.", CODE_CANCELLED)
        body = converter.ask(query.to_json(), "json", still_wanted=in_time)
        return answer.from_json(json.loads(body))

    try:
        return rows_of_run(ask)
    except ConverterError as error:
        if not in_time():
            raise _RunError(
                f"It was not converted within {limits.seconds:.0f} s, what --run-seconds allows."
            ) from None
        # A remote run is told by where it lies, not by where it was fetched to.
        folder = os.path.dirname(path) if path.endswith(TRACE_SUFFIX) else path
        sentence = str(error).replace(folder, posixpath.dirname(run.files[0]))
        raise _RunError(sentence, converter.exit_code) from None
    finally:
        converter.close()
