"""Runs a job for tests that only look at what it left, once for all of them.

What a job leaves is kept in `.cache/recordings/KEY`, where KEY is a hash of all that it comes of
(`dependencies.py`): a test run in which none of that changed does not run the job again, as Bazel
does not repeat a test, and of several processes that ask for it at once one runs it. Only what
ended as expected is kept, and nothing that a failed test looked at (`forget_doubted`).

A recording is only read: a test that writes into it takes a copy. What must happen in each run of
the tests (that the collector does no harm) does not belong here.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oom_forensics.logdir import first_reading

from recordings.dependencies import Job, key_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".cache/recordings"
# Stands for the recording's folder in arguments and in values of variables.
LOGDIR = "{logdir}"
UNUSED_S = 7 * 24 * 3600

# Written last: with it a recording is whole.
_ENDED = "ended.json"
_DOUBTED = "doubted"
_RUNS = "logdir"
# What the tests of each module have looked at, in this process.
_looked_at: dict[str, set[Path]] = {}


class Recording(NamedTuple):
    """What a job left."""

    logdir: Path
    done: subprocess.CompletedProcess[str]


def recorded(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    sources: Sequence[Path],
    *,
    exit_code: int | None = 0,
    says: str = "",
    timeout_s: float = 300,
    kept: Path = KEPT,
) -> Recording:
    """Runs a job, or tells what it left when it was last run.

    Args:
      command: Its interpreter and arguments; LOGDIR stands for the folder that it writes into.
      environment: Variables beside those of this process.
      sources: Its script and what that imports: files, and folders for the Python in them.
      exit_code: How it has to end; None: in any way.
      says: What its standard error has to hold.
      timeout_s: How long it may take.
      kept: The folder of all recordings.

    Raises:
      RuntimeError: It ended otherwise. Nothing is kept.
    """
    folder = kept / key_of(Job(tuple(map(str, command)), dict(environment), tuple(sources)))
    # The file of the test that runs in this process.
    module = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
    _looked_at.setdefault(module, set()).add(folder)
    with _locked(folder):
        if not (folder / _ENDED).exists():
            _remove_unused(kept)
            shutil.rmtree(folder, ignore_errors=True)
            (folder / _RUNS).mkdir(parents=True)
            done = _run(command, environment, folder / _RUNS, timeout_s)
            if exit_code not in (None, done.returncode) or says not in done.stderr:
                raise RuntimeError(
                    f"exit code {done.returncode}, not {exit_code} and words with {says!r}:\n"
                    f"{done.stdout}\n{done.stderr}"
                )
            for trace in (folder / _RUNS).rglob("*.xplane.pb"):
                first_reading.complete(trace)
            ended = json.dumps([done.args, done.returncode, done.stdout, done.stderr])
            (folder / _ENDED).write_text(ended)
        os.utime(folder / _ENDED)
        told = json.loads((folder / _ENDED).read_text())
    return Recording(folder / _RUNS, subprocess.CompletedProcess[str](*told))


def doubt(module: str) -> None:
    """Notes that a test of a module failed: what its tests looked at may be to blame."""
    for folder in _looked_at.get(module, ()):
        if folder.exists():
            (folder / _DOUBTED).touch()


def forget_doubted(kept: Path = KEPT) -> None:
    """Removes what was doubted; when no test runs any more."""
    for doubted in kept.glob(f"*/{_DOUBTED}"):
        shutil.rmtree(doubted.parent, ignore_errors=True)


def _run(
    command: Sequence[str | Path], environment: Mapping[str, str], logdir: Path, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    def filled(text: object) -> str:
        return str(text).replace(LOGDIR, str(logdir))

    return subprocess.run(
        [filled(each) for each in command],
        cwd=logdir.parent,
        env={**os.environ, **{name: filled(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time has a folder; one that dies has it no longer."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_unused(kept: Path) -> None:
    for ended in kept.glob(f"*/{_ENDED}"):
        if time.time() - ended.stat().st_mtime > UNUSED_S:
            shutil.rmtree(ended.parent, ignore_errors=True)
            ended.parent.with_suffix(".lock").unlink(missing_ok=True)
