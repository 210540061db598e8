"""The black boxes of processes that died without a word, made into runs.

The collector keeps a file beside the logdir while a process lives (core/black_box.h); the
converter makes a run of one whose process is gone. Here it is looked for, and the converter
called, where there is one.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from oom_forensics.converter.binary import ConverterMissingError, find_converter

with contextlib.suppress(ImportError):  # where there is none there is no collector either
    import fcntl

SUFFIX = ".oombox"
_TIMEOUT_S = 30.0
_MAX_DEPTH = 3

_tried_lock = threading.Lock()
_tried: set[tuple[str, int, int]] = set()
"""Boxes that were looked at and left as they are: path, inode, time of change."""


def folders_of_user() -> list[Path]:
    """Returns where boxes lie whose process knew of no logdir, or could not use it."""
    if not hasattr(os, "getuid"):
        return []
    name = f"oom_forensics-{os.getuid()}"
    return [Path(os.environ.get("TMPDIR") or "/tmp") / name, Path("/var/tmp") / name]  # noqa: S108


def recover_if_any(logdir: str) -> None:
    """Makes runs of the boxes of processes that are gone, if there are such in or of `logdir`."""
    new = [box for box in _boxes_of(logdir) if _is_new(box)]
    if new:
        recover(logdir)


def recover(logdir: str | os.PathLike[str], ended: str = "") -> list[str]:
    """Makes runs of the boxes that belong to a logdir; returns the folders of the runs.

    Args:
      logdir: where the boxes' runs belong.
      ended: "PROCESS:SIGNAL:EXIT_CODE" of a process that was waited for.
    """
    flags = [f"--ended={ended}"] if ended else []
    try:
        command = find_converter().command("recover", logdir, *flags)
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (ConverterMissingError, OSError, subprocess.TimeoutExpired) as error:
        print(f"oom-forensics: no black box can be opened: {error}", file=sys.stderr)
        return []
    return answer.stdout.splitlines()


def recover_at_start() -> None:
    """Makes runs of what earlier processes left, beside the program that begins.

    A box takes 5 MB of disk. Who starts a job again wants to know what it died of, so those of its
    own logdir are named.
    """
    own = os.environ.get("OOM_FORENSICS_LOGDIR") or ""
    folders = [own, *map(os.fspath, folders_of_user())]
    left = [folder for folder in folders if any(_is_new(box) for box in _boxes_in(folder, 0))]
    if left:
        threading.Thread(target=_recover_and_tell, args=(left, own), daemon=True).start()


def _recover_and_tell(folders: list[str], own: str) -> None:
    for folder in folders:
        for run in recover(folder):
            if folder == own:
                say = "OOM Forensics: an earlier process died without a word: oom-forensics report "
                print(say + shlex.quote(run), file=sys.stderr, flush=True)


def _boxes_of(logdir: str) -> Iterator[Path]:
    yield from _boxes_in(logdir, _MAX_DEPTH)
    for folder in folders_of_user():
        yield from _boxes_in(os.fspath(folder), 0)


def _boxes_in(folder: str, depth: int) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(SUFFIX):
            yield Path(entry.path)
        elif depth and entry.name != "plugins" and entry.is_dir(follow_symlinks=False):
            yield from _boxes_in(entry.path, depth - 1)


def _is_new(box: Path) -> bool:
    """Whether its process is gone, and it was not looked at before."""
    if sys.platform == "win32":
        return False
    try:
        status = box.stat()
        key = (os.fspath(box), status.st_ino, status.st_mtime_ns)
        with _tried_lock:
            if key in _tried:
                return False
        with box.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # it is in use, or another user's
        return False
    with _tried_lock:
        _tried.add(key)
    return True
