"""One run of a job: as it is, or with a remedy applied."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from advice.corpus import Job
from advice.verdicts import peak_requested_bytes

MEASURED = Path(__file__).with_name("measured.py")
TIME_LIMIT_S = 900

ENVIRONMENT = {
    "TF_CPU_ALLOCATOR_USE_BFC": "1",
    # With oneDNN an op that gets no memory can end the process without an error.
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
    # Jobs run beside each other: what a report holds must not depend on that.
    "OOM_FORENSICS_MAX_HOLD_SECONDS": "60",
}


class Change(NamedTuple):
    """What is changed of a job before it is run."""

    limit_mib: int
    options: tuple[str, ...] = ()
    # Python that is run before the script.
    code: str = ""
    environment: tuple[str, ...] = ()


class Lived(NamedTuple):
    """How a run ended."""

    to_the_end: bool
    # The most that was in use; 0: it did not come so far.
    peak_bytes: int
    # What it wrote as it went; of a trial that is kept only the end, where it died.
    said: str
    seconds: float


def run(
    job: Job, change: Change, logdir: Path | None = None, recording: Path | None = None
) -> Lived:
    """Runs the job in a process of its own.

    Args:
      job: What to run.
      change: The limit and what is different.
      logdir: Where the flight recorder writes its run; none: it does not report.
      recording: Where a recording of the whole run is written to; none: there is none.
    """
    with tempfile.TemporaryDirectory() as scratch:
        peak = Path(scratch) / "peak"
        environment = {
            **os.environ,
            **ENVIRONMENT,
            "TF_CPU_BFC_MEM_LIMIT_IN_MB": str(change.limit_mib),
            "OOM_FORENSICS_LOGDIR": str(logdir or scratch),
            **dict(each.split("=", 1) for each in change.environment),
        }
        begin = time.monotonic()
        try:
            done = subprocess.run(
                [
                    sys.executable,
                    MEASURED,
                    peak,
                    change.code,
                    recording or "",
                    job.script,
                    *job.arguments,
                    *change.options,
                ],
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_S,
                check=False,
            )
            said, code = done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            said, code = f"not ended after {TIME_LIMIT_S} s", 1
        return Lived(
            code == 0,
            int(peak.read_text()) if peak.exists() else 0,
            said,
            time.monotonic() - begin,
        )


class Trials:
    """Runs with changes, each once: what TensorFlow does does not depend on our advice.

    May be asked by several threads, of different jobs.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}

    def run(self, job: Job, change: Change) -> Lived:
        """Runs the job with the change, or tells how it ended when it was run before."""

        def try_it() -> Lived:
            lived = run(job, change)
            return lived._replace(said="" if lived.to_the_end else lived.said[-4000:])

        return Lived(*self._once(job, change, try_it))

    def peak_bytes(self, job: Job, limit_mib: int) -> int:
        """Tells the most bytes that the job had asked for at a time; 0: it did not end."""

        def measure() -> int:
            with tempfile.TemporaryDirectory() as recording:
                lived = run(job, Change(limit_mib), recording=Path(recording))
                return peak_requested_bytes(Path(recording)) if lived.to_the_end else 0

        peak: int = self._once(job, ["peak", limit_mib], measure)
        return peak

    def _once(self, job: Job, what: Any, measure: Callable[[], Any]) -> Any:
        source = hashlib.sha256(job.script.read_bytes()).hexdigest()[:16]
        key = json.dumps([job.name, source, what])
        if key not in self._known:
            measured = measure()
            with self._lock:
                self._known[key] = measured
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._file.write_text(json.dumps(self._known, indent=1))
        return self._known[key]


def run_into_oom(job: Job, logdir: Path) -> Lived:
    """Runs the job as it is; its out-of-memory is then a run below `logdir`."""
    shutil.rmtree(logdir, ignore_errors=True)
    logdir.mkdir(parents=True)
    return run(job, Change(job.limit_mib), logdir)
