"""The runs of a logdir: where TensorFlow's profiler left traces.

A run is a folder `<TensorBoard run>/plugins/profile/<profile run>/` with one
`<host>.xplane.pb` per host. It is named `<TensorBoard run>/<profile run>`, as the
profiler's own tab names it, so that a person finds the same names in both.

An out-of-memory during a profile leaves two runs: the flight recorder's, and the profile
that shows the same. The first one's folder then has a file `shown_in_run` with the path
from there to the second one's, and it is not listed beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from oom_forensics.logdir.black_boxes import recover_if_any
from oom_forensics.remote import listing, local_copies
from oom_forensics.remote.addresses import RemoteError, is_url, whole_path

TRACE_SUFFIX = ".xplane.pb"
SHOWN_IN_RUN = "shown_in_run"
_FIRST_SCAN_S = 30.0


@dataclass(frozen=True)
class TraceFile:
    """The trace of one host."""

    host: str
    size_bytes: int
    modified_ns: int
    tag: str = ""
    """Of a remote file: differs with its content."""


@dataclass(frozen=True)
class Run:
    """One profiling run with the traces of its hosts, sorted by host."""

    name: str
    folder: str
    """A path of this machine, or a URL."""
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

    @property
    def local_folder(self) -> str:
        """Where the converter finds it, once `fetch` was called."""
        return str(local_copies.folder_of(self.folder)) if is_url(self.folder) else self.folder

    def fetch(self) -> str:
        """Copies it to this machine if it is remote; returns `local_folder`.

        Raises:
          RemoteError: it cannot be read; the sentence says why.
        """
        if is_url(self.folder):
            versions = {file.host + TRACE_SUFFIX: repr(file) for file in self.files}
            local_copies.copy_here(self.folder, versions)
        return self.local_folder


def parse_logdir_spec(spec: str) -> dict[str, str]:
    """Returns path → run name prefix of TensorBoard's `--logdir_spec`.

    The form is `name:path,name:path`; a path without a name has the prefix ''.
    """
    paths: dict[str, str] = {}
    for item in filter(None, spec.split(",")):
        name, path = "", item
        if ":" in item and not item.startswith("/") and not is_url(item):
            name, _, path = item.partition(":")
        paths[whole_path(path)] = name
    return paths


def scan(logdirs: dict[str, str], problems: list[str] | None = None) -> list[Run]:
    """Finds all runs below the logdirs (path or URL → name prefix), newest first.

    Args:
      logdirs: where to look.
      problems: if given, gets a sentence for each URL that cannot be listed.

    Raises:
      RemoteError: a URL cannot be listed, and `problems` was not given.
    """
    runs: dict[str, Run] = {}
    for logdir, prefix in logdirs.items():
        try:
            found = list(_remote_runs(logdir) if is_url(logdir) else _local_runs(logdir))
        except RemoteError as error:
            if problems is None:
                raise
            problems.append(str(error))
            continue
        for run in found:
            name = _free_name("/".join(filter(None, (prefix, run.name))), runs)
            runs[name] = replace(run, name=name)
    folders = {os.path.realpath(run.folder) for run in runs.values() if not is_url(run.folder)}
    told = (run for run in runs.values() if _shown_in(run) not in folders)
    return sorted(told, key=lambda run: (-run.modified_ns, run.name))


def _shown_in(run: Run) -> str | None:
    """Returns the folder of the run that shows the same out-of-memory; None: there is none."""
    if is_url(run.folder):
        return None
    try:
        with open(os.path.join(run.folder, SHOWN_IN_RUN), encoding="utf-8") as file:
            return os.path.realpath(os.path.join(run.folder, file.read().strip()))
    except (OSError, ValueError):
        return None


def find_remote_run(url: str, name: str = "") -> Run:
    """Finds what a URL means: a trace, a run's folder, or a run of a logdir.

    Args:
      url: of a file, a folder or a logdir.
      name: which run of a logdir; the newest one if it is not given.

    Raises:
      RemoteError: there is none, or it cannot be read; the sentence says why.
    """
    url = whole_path(url)
    files = listing.files_below(url, TRACE_SUFFIX)
    own = [file for file in files if len(file.parts) < 2]
    if own and not name:
        folder = url if own[0].parts else url.rpartition("/")[0]
        traces = tuple(_trace_of(file, url.rpartition("/")[2]) for file in own)
        return Run(folder.rpartition("/")[2], folder, traces)
    runs = {run.name: run for run in scan({url: ""})}
    if name in runs:
        return runs[name]
    if not runs:
        raise RemoteError(
            f"There is no *{TRACE_SUFFIX} at {url}, nor in plugins/profile/<run>/ below it."
        )
    if name:
        some = ", ".join(list(runs)[:10])
        raise RemoteError(f"There is no run {name!r} in {url}; there are: {some}.")
    return next(iter(runs.values()))


def _remote_runs(url: str) -> Iterator[Run]:
    traces: dict[tuple[str, ...], list[TraceFile]] = {}
    for file in listing.files_below(url, TRACE_SUFFIX):
        *inside, plugins, profile, run, _ = ("", "", "", *file.parts)
        if (plugins, profile) == ("plugins", "profile"):
            folder = tuple(filter(None, inside))
            traces.setdefault((*folder, run), []).append(_trace_of(file))
    for (*outer, run), files in traces.items():
        place = "/".join((url, *outer, "plugins", "profile", run))
        yield Run("/".join((*outer, run)), place, tuple(files))


def _trace_of(file: listing.RemoteFile, own_name: str = "") -> TraceFile:
    """`own_name` is that of a URL which is the file itself."""
    name = file.parts[-1] if file.parts else own_name
    host = name.removesuffix(TRACE_SUFFIX)
    return TraceFile(host, file.size_bytes, file.modified_ns, file.tag)


def _local_runs(logdir: str) -> Iterator[Run]:
    recover_if_any(logdir)
    for profile_folder in _profile_folders(logdir):
        inside = os.path.relpath(profile_folder.parent.parent, logdir)
        yield from _runs_of(profile_folder, "" if inside == "." else inside)


def _free_name(name: str, taken: Container[str]) -> str:
    """Two folders of --logdir_spec may have equal names: the second one gets a number."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def _profile_folders(logdir: str) -> Iterator[Path]:
    """Yields every `plugins/profile` folder; links are followed, each folder once.

    By the first of its names, as the command does (converter/input/trace_files.cc).
    """
    seen: set[tuple[int, int]] = set()
    for folder, subfolders, _ in os.walk(logdir, followlinks=True):
        subfolders.sort()
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
        if files := traces_of(folder.path):
            name = "/".join(filter(None, (tensorboard_run, folder.name)))
            yield Run(name, folder.path, files)


def traces_of(folder: str) -> tuple[TraceFile, ...]:
    """Returns the traces in a run's folder on this machine, sorted by host; none if it is gone."""
    files = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(TRACE_SUFFIX) and entry.is_file():
                status = entry.stat()
                host = entry.name.removesuffix(TRACE_SUFFIX)
                files.append(TraceFile(host, status.st_size, status.st_mtime_ns))
    return tuple(sorted(files, key=lambda file: file.host))


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
        self._problem: str | None = None

    @property
    def problem(self) -> str | None:
        """Which URLs could not be listed at the last look, and why; None: all could."""
        with self._changed:
            return self._problem

    def all(self, wait_s: float = 1.0) -> list[Run]:
        """Returns all runs, newest first, as the disk has or, if it is slow, had them.

        Args:
          wait_s: how long to wait for a look at the disk, where the last one is old. For
            the first one it waits half a minute: nothing is known yet, and "there is none"
            would not be true.
        """
        self._refresh(wait_s if self._was_scanned() else max(wait_s, _FIRST_SCAN_S))
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
        self._refresh(wait_s if self._was_scanned() else max(wait_s, _FIRST_SCAN_S))
        with self._changed:
            return self._runs.get(name)

    def is_empty(self, wait_s: float = 0.5) -> bool:
        """Whether there is no run. Waits at most `wait_s` for a scan of the disk.

        Where the first scan takes longer it is not known, and not said.
        """
        with self._changed:
            if self._runs:
                return False
        self._refresh(wait_s)
        with self._changed:
            return self._scans > 0 and not self._runs

    def _was_scanned(self) -> bool:
        with self._changed:
            return self._scans > 0

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
        problems: list[str] = []
        try:
            found = scan(self._logdirs, problems)
        finally:
            with self._changed:
                self._problem = " ".join(problems) or None
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
