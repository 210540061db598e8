"""Which runs a folder, a glob or a list means, wherever they lie."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

import fsspec

from oom_forensics.fleet.storage import FleetError
from oom_forensics.logdir.runs import TRACE_SUFFIX
from oom_forensics.remote.listing import RemoteFile, files_meant

# A folder with this above it is a run of many hosts; other traces are runs of their own.
_PROFILE = ("plugins", "profile")
# TensorBoard callbacks put these folders between a job and its runs.
_INSIDE_A_JOB = {"train", "validation", "test", "eval"}


@dataclass(frozen=True)
class FleetRun:
    """A run that was found, to be converted by any worker that can reach its URL."""

    url: str
    """Of the run's folder, or of its only trace."""
    job: str
    name: str
    files: tuple[str, ...]
    """URLs of its traces, sorted."""
    size_bytes: int
    modified_ns: int
    version: str
    """The same for the same traces: names, sizes, and modification times or etags."""

    @property
    def run_id(self) -> str:
        """The run's key in all tables."""
        return hashlib.blake2s(self.url.encode(), digest_size=8).hexdigest()


def find_runs(patterns: Iterable[str], job_pattern: str | None = None) -> list[FleetRun]:
    """Returns the runs that are meant, each once, sorted by URL.

    Args:
      patterns: folders, traces, globs of them, and "@FILE" for a list of those, a line each;
        local paths or URLs.
      job_pattern: a regular expression whose first group, searched in a run's URL, is the
        name of its job; default: the folder that holds `plugins/profile`.

    Raises:
      OomForensicsError: a pattern cannot be looked up, or finds nothing.
    """
    traces: dict[str, RemoteFile] = {}
    for pattern in _without_lists(patterns):
        traces |= _traces_of(pattern)
    by_run: dict[str, list[str]] = {}
    for url in sorted(traces):
        by_run.setdefault(_run_url(url), []).append(url)
    finder = re.compile(job_pattern) if job_pattern else None
    return [
        _run(url, files, [traces[file] for file in files], finder)
        for url, files in sorted(by_run.items())
    ]


def _without_lists(patterns: Iterable[str]) -> Iterable[str]:
    for pattern in patterns:
        if not pattern.startswith("@"):
            yield pattern
            continue
        try:
            with fsspec.open(pattern[1:], "rt") as lines:
                listed = [line.strip() for line in lines]
        except (OSError, ValueError, ImportError) as error:
            raise FleetError(f"The list {pattern[1:]} cannot be read: {error}") from None
        yield from (line for line in listed if line and not line.startswith("#"))


def _traces_of(pattern: str) -> dict[str, RemoteFile]:
    traces = files_meant(pattern, TRACE_SUFFIX)
    if not traces:
        raise FleetError(f"{pattern} has no {TRACE_SUFFIX} in it.")
    return traces


def _run_url(trace: str) -> str:
    folder = posixpath.dirname(trace)
    return folder if tuple(folder.split("/")[-3:-1]) == _PROFILE else trace


def _run(
    url: str, files: list[str], details: list[RemoteFile], finder: re.Pattern[str] | None
) -> FleetRun:
    marks = [(each.size_bytes, each.tag or str(each.modified_ns)) for each in details]
    version = repr(list(zip(map(posixpath.basename, files), marks, strict=True)))
    return FleetRun(
        url=url,
        job=_job(url, finder),
        name=posixpath.basename(url).removesuffix(TRACE_SUFFIX),
        files=tuple(files),
        size_bytes=sum(each.size_bytes for each in details),
        modified_ns=max(each.modified_ns for each in details),
        version=hashlib.blake2s(version.encode(), digest_size=8).hexdigest(),
    )


def _job(url: str, finder: re.Pattern[str] | None) -> str:
    if finder is not None:
        match = finder.search(url)
        if match:
            return match.group(1) if match.groups() else match.group(0)
    parts = url.split("/")[:-1]
    if tuple(parts[-2:]) == _PROFILE:
        parts = parts[:-2]
    while len(parts) > 1 and parts[-1] in _INSIDE_A_JOB:
        parts.pop()
    return parts[-1] if parts else ""
