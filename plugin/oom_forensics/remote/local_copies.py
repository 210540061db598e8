"""Copies of remote runs on this machine.

A run's folder is copied to `$OOM_FORENSICS_CACHE` (else `$XDG_CACHE_HOME/oom-forensics`),
below a name made of its URL, and a file is copied again when it has changed there. Beyond
20 GiB (OOM_FORENSICS_CACHE_GIB) the runs that were not used for longest are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oom_forensics.remote.filesystems import open_filesystem, told_of

_DEFAULT_GIB = 20.0
# A run that somebody may look at is not removed.
_IN_USE_S = 3600.0

_lock = threading.Lock()
_lock_of: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_progress: dict[str, float] = {}


def folder_of(url: str) -> Path:
    """Where the copy of a run's folder lies, or would lie."""
    digest = hashlib.blake2s(url.encode(), digest_size=12).hexdigest()
    name = url.rstrip("/").rpartition("/")[2]
    # These are no names, but ways out of the cache.
    return _cache() / digest / (name if name not in ("", ".", "..") else "run")


def copy_here(url: str, versions: Mapping[str, str]) -> Path:
    """Copies what is missing of a run's folder, or has changed; returns the local folder.

    Args:
      url: of the folder.
      versions: names of its files → text that differs whenever the file does.

    Raises:
      RemoteError: it cannot be read; the sentence says why.
    """
    folder = folder_of(url)
    with _lock:
        lock = _lock_of[url]
    with lock:
        _make_private(folder)
        missing = [name for name, version in versions.items() if _has(folder, name) != version]
        for file in folder.iterdir():
            if not file.name.startswith(".") and file.name not in versions:
                file.unlink()
        try:
            for number, name in enumerate(missing):
                _progress[url] = number / len(missing)
                _copy(url, name, folder)
                _version_file(folder, name).write_text(versions[name])
        finally:
            _progress.pop(url, None)
        os.utime(folder)
    _remove_least_used()
    return folder


def progress_of(url: str) -> float | None:
    """How much of a run's folder has been copied, 0 to 1; None: it is not being copied."""
    return _progress.get(url)


def _cache() -> Path:
    named = os.environ.get("OOM_FORENSICS_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "oom-forensics"


def _make_private(folder: Path) -> None:
    # Traces hold names of someone's program.
    _cache().mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _version_file(folder: Path, name: str) -> Path:
    return folder / f".{name}.version"


def _has(folder: Path, name: str) -> str | None:
    try:
        return _version_file(folder, name).read_text() if (folder / name).exists() else None
    except OSError:
        return None


def _copy(url: str, name: str, folder: Path) -> None:
    filesystem, root = open_filesystem(url)
    part = folder / f".{name}.{os.getpid()}.part"
    share = _progress.get(url, 0.0)
    try:
        with told_of(f"{url}/{name}"):
            filesystem.get_file(f"{root}/{name}", str(part), callback=_callback(url, share))
        # A converter that has the old file mapped keeps it.
        part.replace(folder / name)
    finally:
        part.unlink(missing_ok=True)


def _callback(url: str, share: float) -> Any:
    from fsspec.callbacks import Callback

    class Told(Callback):  # type: ignore[misc]
        """Counts the bytes of the file that is being copied."""

        def call(self, *_: Any, **__: Any) -> None:
            if self.size:
                _progress[url] = share + (1 - share) * min(1.0, self.value / self.size)

    return Told()


def _remove_least_used() -> None:
    with contextlib.suppress(OSError, ValueError):
        gib = float(os.environ.get("OOM_FORENSICS_CACHE_GIB", _DEFAULT_GIB))
        runs = sorted(_cache().glob("*/*"), key=lambda run: run.stat().st_mtime)
        sizes = {run: sum(file.stat().st_size for file in run.iterdir()) for run in runs}
        too_much = sum(sizes.values()) - gib * 2**30
        for run, size in sizes.items():
            if too_much <= 0 or time.time() - run.stat().st_mtime < _IN_USE_S:
                return
            shutil.rmtree(run.parent, ignore_errors=True)
            too_much -= size
