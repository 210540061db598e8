"""The runs of a logdir: where TensorFlow's profiler left traces.

A run is a folder `<TensorBoard run>/plugins/profile/<profile run>/` with one
`<host>.xplane.pb` per host. It is named `<TensorBoard run>/<profile run>`, as the
profiler's own tab names it, so that a person finds the same names in both.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
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
    revision: int = 0
    """Greater whenever a scan found other files than the one before."""

    @property
    def version(self) -> str:
        """The same for the same files; what a browser keeps is kept under it."""
        return hashlib.blake2s(repr(self.files).encode(), digest_size=8).hexdigest()

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
                name = _free_name(run.name, runs)
                runs[name] = replace(run, name=name)
    return sorted(runs.values(), key=lambda run: (-run.modified_ns, run.name))


def _free_name(name: str, taken: Container[str]) -> str:
    """Two folders of --logdir_spec may have equal names: the second one gets a number."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


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
    """The runs of a TensorBoard's logdirs, scanned again behind what is known.

    A slow disk delays nobody: whoever asks gets the list that is known, and a thread
    brings it up to date. TensorBoard asks every plugin for `is_active`, one after the
    other, before it draws its first page: that answer never waits long either.
    """

    def __init__(self, logdirs: dict[str, str], fresh_s: float = 2.0) -> None:
        self._logdirs = logdirs
        self._fresh_s = fresh_s
        self._changed = threading.Condition()
        """Guards the fields below, and tells of a scan's end."""
        self._runs: dict[str, Run] = {}
        self._last_revision = 0
        self._scans = 0
        self._is_scanning = False
        self._scan_took_s = 0.0
        self._scanned_at = float("-inf")

    def all(self, wait_s: float = 1.0) -> list[Run]:
        """Returns all runs, newest first, as the disk has or, if it is slow, had them.

        Args:
          wait_s: how long to wait for a look at the disk, where the last one is old.
        """
        self._refresh(wait_s)
        with self._changed:
            return list(self._runs.values())

    def find(self, name: str, wait_s: float = 5.0) -> Run | None:
        """Returns the run of a name; None where there is none.

        Args:
          name: as Run.name.
          wait_s: how long to look on the disk for a run that is not known yet.
        """
        self._refresh(0)
        with self._changed:
            if name in self._runs:
                return self._runs[name]
        self._refresh(wait_s)
        with self._changed:
            return self._runs.get(name)

    def is_empty(self, wait_s: float = 0.5) -> bool:
        """Whether no run is known. Waits at most `wait_s` for a scan of the disk."""
        with self._changed:
            if self._runs:
                return False
        return not self.all(wait_s)

    def _refresh(self, wait_s: float) -> None:
        """Begins a scan where the last one is old, and waits a little for its end."""
        with self._changed:
            # A slow disk is asked less often.
            age_s = time.monotonic() - self._scanned_at
            if not self._is_scanning and age_s > max(self._fresh_s, 5 * self._scan_took_s):
                self._is_scanning = True
                threading.Thread(target=self._scan, name="oom-forensics runs", daemon=True).start()
            if self._is_scanning and wait_s > 0:
                scans = self._scans
                self._changed.wait_for(lambda: self._scans > scans, wait_s)

    def _scan(self) -> None:
        begin = time.monotonic()
        found: list[Run] | None = None
        try:
            found = scan(self._logdirs)
        finally:
            with self._changed:
                if found is not None:
                    self._runs = {run.name: self._with_revision(run) for run in found}
                self._scanned_at = time.monotonic()
                self._scan_took_s = self._scanned_at - begin
                self._is_scanning = False
                self._scans += 1
                self._changed.notify_all()

    def _with_revision(self, run: Run) -> Run:
        known = self._runs.get(run.name)
        if known and (known.folder, known.files) == (run.folder, run.files):
            return known
        self._last_revision += 1
        return replace(run, revision=self._last_revision)
