"""The runs of a logdir: where TensorFlow's profiler left traces.

A run is a folder `<TensorBoard run>/plugins/profile/<profile run>/` with one
`<host>.xplane.pb` per host. It is named `<TensorBoard run>/<profile run>`, as the
profiler's own tab names it, so that a person finds the same names in both.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TRACE_SUFFIX = ".xplane.pb"
_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://.*")


@dataclass(frozen=True)
class TraceFile:
    """The trace of one host."""

    host: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True)
class Run:
    """One profiling run with the traces of its hosts, sorted by host."""

    name: str
    folder: str
    files: tuple[TraceFile, ...]

    @property
    def modified_ns(self) -> int:
        """When the newest of its traces was written, ns since the epoch."""
        return max(file.modified_ns for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Size of all its traces."""
        return sum(file.size_bytes for file in self.files)


def parse_logdir_spec(spec: str) -> dict[str, str]:
    """Returns path → run name prefix of TensorBoard's `--logdir_spec`.

    The form is `name:path,name:path`; a path without a name has the prefix ''.
    """
    paths: dict[str, str] = {}
    for item in filter(None, spec.split(",")):
        name, path = "", item
        if ":" in item and not item.startswith("/") and not _URI.match(item):
            name, _, path = item.partition(":")
        paths[os.path.abspath(os.path.expanduser(path))] = name
    return paths


def scan(logdirs: dict[str, str]) -> list[Run]:
    """Finds all runs below the logdirs (path → name prefix), newest first."""
    runs: dict[str, Run] = {}
    for logdir, prefix in logdirs.items():
        for profile_folder in _profile_folders(logdir):
            inside = os.path.relpath(profile_folder.parent.parent, logdir)
            tensorboard_run = "/".join(p for p in (prefix, inside) if p not in ("", "."))
            for run in _runs_of(profile_folder, tensorboard_run):
                runs.setdefault(run.name, run)
    return sorted(runs.values(), key=lambda run: (-run.modified_ns, run.name))


def _profile_folders(logdir: str) -> Iterator[Path]:
    """Yields every `plugins/profile` folder; links are followed, each folder once."""
    seen: set[tuple[int, int]] = set()
    for folder, subfolders, _ in os.walk(logdir, followlinks=True):
        try:
            status = os.stat(folder)
        except OSError:
            subfolders.clear()
            continue
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            subfolders.clear()
            continue
        seen.add(identity)
        if os.path.basename(folder) == "plugins":
            if "profile" in subfolders:
                yield Path(folder) / "profile"
            # What else lies below a plugin's folder is that plugin's own.
            subfolders.clear()


def _runs_of(profile_folder: Path, tensorboard_run: str) -> Iterator[Run]:
    try:
        folders = [entry for entry in os.scandir(profile_folder) if entry.is_dir()]
    except OSError:
        return
    for folder in folders:
        files = tuple(sorted(_trace_files(folder.path), key=lambda file: file.host))
        if files:
            name = "/".join(filter(None, (tensorboard_run, folder.name)))
            yield Run(name, folder.path, files)


def _trace_files(folder: str) -> Iterator[TraceFile]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(TRACE_SUFFIX) and entry.is_file():
                    status = entry.stat()
                    host = entry.name.removesuffix(TRACE_SUFFIX)
                    yield TraceFile(host, status.st_size, status.st_mtime_ns)
    except OSError:
        return


class RunList:
    """The runs of a TensorBoard's logdirs, scanned again when they are old.

    TensorBoard asks every plugin for `is_active`, one after the other, before it
    draws its first page: that answer never waits long for a slow disk.
    """

    def __init__(self, logdirs: dict[str, str], fresh_s: float = 2.0) -> None:
        self._logdirs = logdirs
        self._fresh_s = fresh_s
        self._scan_took_s = 0.0
        self._scanning = threading.Lock()
        self._runs: list[Run] = []
        self._scanned_at = float("-inf")

    def all(self) -> list[Run]:
        """Returns all runs, newest first, as the disk had them moments ago."""
        with self._scanning:
            begin = time.monotonic()
            # A slow disk is asked less often.
            if begin - self._scanned_at > max(self._fresh_s, 5 * self._scan_took_s):
                self._runs = scan(self._logdirs)
                self._scanned_at = time.monotonic()
                self._scan_took_s = self._scanned_at - begin
            return self._runs

    def find(self, name: str) -> Run | None:
        """Returns the run of a name; None where there is none."""
        return next((run for run in self.all() if run.name == name), None)

    def is_empty(self, wait_s: float = 0.5) -> bool:
        """Whether no run is known. Waits at most `wait_s` for a scan of the disk."""
        if self._runs:
            return False
        scan_thread = threading.Thread(target=self.all, daemon=True)
        scan_thread.start()
        scan_thread.join(wait_s)
        return not self._runs
