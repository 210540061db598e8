"""Copies a run that was written here to where it belongs, in a process of its own.

    python -m oom_forensics.remote FOLDER URL

A job that has just run out of memory is neither held up nor asked for memory, and the copy
goes on when the job dies. `begin` starts it from the job; at the interpreter's end the job
waits a little, since a container may end with it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from pathlib import Path

from oom_forensics.remote.addresses import RemoteError, is_url
from oom_forensics.remote.filesystems import open_filesystem, told_of

_WAIT_AT_EXIT_S = 60.0

_running: list[tuple[int, subprocess.Popen[bytes]]] = []
"""Of which process, and the one that copies."""


def begin(folder: Path, logdir: str) -> None:
    """Copies a run's folder below the URL of a logdir, in the background. Never raises.

    Args:
      folder: `.../plugins/profile/<run>` on this machine.
      logdir: the URL.
    """
    if not is_url(logdir):
        return
    try:
        if not _running:
            atexit.register(_wait)
        # Should the file system import TensorFlow: nothing of ours in that process.
        environment = {**os.environ, "OOM_FORENSICS": "0"}
        copier = subprocess.Popen(
            [sys.executable, "-m", "oom_forensics.remote", str(folder), logdir],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        _running.append((os.getpid(), copier))
    except Exception as error:
        _say(f"{folder} stays here, it cannot be copied to {logdir}: {error}")


def target_of(folder: Path, logdir: str) -> str:
    """Where a run's folder belongs below the URL of a logdir."""
    return f"{logdir.rstrip('/')}/plugins/profile/{folder.name}"


def send(folder: Path, logdir: str) -> None:
    """Copies a run's folder, its trace last: it is by the trace that a run is found.

    Raises:
      RemoteError: it cannot be written; the sentence says why.
    """
    target = target_of(folder, logdir)
    filesystem, root = open_filesystem(target)
    files = [file for file in folder.iterdir() if not file.name.startswith(".")]
    with told_of(target):
        filesystem.makedirs(root, exist_ok=True)
        for file in sorted(files, key=lambda file: file.suffix == ".pb"):
            filesystem.put_file(str(file), f"{root}/{file.name}")


def _wait() -> None:
    deadline = time.monotonic() + _WAIT_AT_EXIT_S
    for owner, copier in _running:
        # A child of fork() has the parent's list.
        if owner != os.getpid():
            continue
        try:
            copier.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _say("the copy of a run goes on behind the end of this program")


def _say(sentence: str) -> None:
    print(f"OOM Forensics: {sentence}", file=sys.stderr, flush=True)


def main(folder: str, logdir: str) -> int:
    """Sends, and says on stderr what came of it; returns the exit code."""
    try:
        send(Path(folder), logdir)
    except RemoteError as error:
        _say(f"{folder} stays here, it is not copied: {error}")
        return 1
    _say(f"copied to {target_of(Path(folder), logdir)}")
    return 0
