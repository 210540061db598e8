"""Running jobs as runs of the tab: `live: train.py (1234)`.

A job whose runs go below TensorBoard's logdir is listed while it runs. Opening it has the job write
a snapshot into a folder for temporary files; while somebody looks at it, the next one takes its
place as the list of runs is asked for. The logdir is left alone.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from oom_forensics.live.jobs import LiveError, LiveProcess, command_of, folder_of, live_processes
from oom_forensics.logdir.runs import TRACE_SUFFIX, Run, TraceFile, traces_of
from oom_forensics.remote.addresses import is_url

PREFIX = "live: "
# A job that does not answer delays the list by no more.
_ANSWER_S = 1.0
# Who has asked nothing for so long looks at something else.
_LOOKED_AT_S = 30.0
# Of the job's time, what snapshots may take.
_SHARE = 0.02


@dataclass
class _Job:
    pid: int
    run: Run
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while a snapshot is taken; guards the fields below, and changes of `run`."""
    revision: int = 0
    """0: there is no snapshot yet."""
    due_at: float = 0.0
    """When the next snapshot may be taken."""
    asked_at: float = float("-inf")


class LiveRuns:
    """The running jobs that report below some logdirs. All methods may be called by any thread."""

    def __init__(self, logdirs: Iterable[str], fresh_s: float = 3.0) -> None:
        """Looks for jobs, and takes snapshots of one, at most each `fresh_s`."""
        self._logdirs = [Path(os.path.realpath(each)) for each in logdirs if not is_url(each)]
        self._fresh_s = fresh_s
        self._lock = threading.Lock()
        """Guards the fields below."""
        self._jobs: dict[str, _Job] = {}
        self._looked_at = float("-inf")
        self._folder: Path | None = None
        atexit.register(self.close)

    def all(self) -> list[Run]:
        """Returns the jobs that run. Those that somebody looks at get a new snapshot."""
        jobs = self._look()
        now = time.monotonic()
        for job in jobs.values():
            if now - job.asked_at < _LOOKED_AT_S and now >= job.due_at:
                # It ends, or is busy: what is known of it goes on being shown.
                with contextlib.suppress(LiveError):
                    self._take_snapshot(job)
        return [job.run for job in jobs.values()]

    def is_empty(self) -> bool:
        """Whether no such job runs."""
        return not self._look()

    def find(self, name: str) -> Run | None:
        """Returns the run of a job, with a snapshot; None where it does not run.

        Raises:
          LiveError: It wrote none; the message is one sentence.
        """
        job = self._look().get(name)
        if job is None:
            return None
        job.asked_at = time.monotonic()
        if not job.revision:
            self._take_snapshot(job)
        return job.run

    def close(self) -> None:
        """Removes what was written."""
        with self._lock:
            folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _look(self) -> dict[str, _Job]:
        with self._lock:
            if time.monotonic() - self._looked_at < self._fresh_s:
                return dict(self._jobs)
            found: dict[str, _Job] = {}
            for process, state in live_processes(_ANSWER_S):
                folder = Path(os.path.realpath(folder_of(process.pid, state)))
                if any(folder.is_relative_to(logdir) for logdir in self._logdirs):
                    name = f"{PREFIX}{_program_of(process.pid)} ({process.pid})"
                    found[name] = self._jobs.get(name) or _Job(process.pid, self._run_of(name))
            for name in self._jobs.keys() - found.keys():
                shutil.rmtree(self._jobs[name].run.folder, ignore_errors=True)
            self._jobs = found
            self._looked_at = time.monotonic()
            return dict(found)

    def _run_of(self, name: str) -> Run:
        """A job's run before there is a snapshot of it."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="oom_forensics_live_"))
        folder = tempfile.mkdtemp(dir=self._folder)
        return Run(name, folder, (TraceFile(socket.gethostname(), 0, 0),))

    def _take_snapshot(self, job: _Job) -> None:
        with job.lock:
            began = time.monotonic()
            if began < job.due_at:
                return
            with tempfile.TemporaryDirectory(dir=job.run.folder) as folder:
                with LiveProcess(job.pid) as process:
                    written = process.snapshot(Path(folder))
                for trace in written.glob(f"*{TRACE_SUFFIX}"):
                    # Whoever reads the last one goes on reading that.
                    trace.replace(Path(job.run.folder, trace.name))
            job.revision += 1
            job.run = replace(job.run, files=traces_of(job.run.folder), revision=job.revision)
            now = time.monotonic()
            job.due_at = now + max(self._fresh_s, (now - began) / _SHARE)


def _program_of(pid: int) -> str:
    """The script that a process runs, or its program."""
    words = command_of(pid).split()
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return Path(script or next(iter(words), "?")).name
