"""Runs the job and judges what it printed and left."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_ENVIRONMENT = {
    "TF_CPU_ALLOCATOR_USE_BFC": "1",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB": "256",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "",
}
_MAX_REPORTS = 5
# What malloc keeps of threads that come and go is no growth.
_MOST_GROWTH_BYTES = 24 << 20


def main() -> int:
    """Prints the figures; returns 1 where one is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="how long it trains")
    parser.add_argument(
        "--every", type=float, default=60, help="seconds between out-of-memories of a thread"
    )
    parser.add_argument("--logdir", type=Path, help="where the runs are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logdir = options.logdir or Path(folder)
        problems = _soak(logdir, 60 * options.minutes, options.every)
    for problem in problems:
        print(f"not as it should be: {problem}")
    return 1 if problems else 0


def _soak(logdir: Path, seconds: float, every_s: float) -> list[str]:
    job = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("job.py"), logdir, str(seconds), str(every_s)],
        env={**os.environ, **_ENVIRONMENT, "OOM_FORENSICS_MAX_REPORTS": str(_MAX_REPORTS)},
        stdout=subprocess.PIPE,
        text=True,
    )
    states: list[dict[str, int]] = []
    # What reports take is theirs: growth is what comes after the last one.
    settled: list[dict[str, int]] = []
    first: dict[str, str] = {}
    for line in job.stdout or ():
        states.append(json.loads(line))
        runs = _runs(logdir)
        # One that comes after it was begun: the first is complete.
        if not first and (len(runs) > 1 or states[-1]["caught"] > 0):
            first = _content(runs[0])
        if len(runs) == _MAX_REPORTS:
            settled.append(states[-1])
    problems = [f"exit code {job.returncode}"] if job.wait() else []
    print(f"{len(states)} s, {states[-1]['steps']} steps, {states[-1]['caught']} caught")
    problems += _judged(settled)
    return problems + _judged_runs(logdir, first, states[-1]["caught"])


def _judged(settled: list[dict[str, int]]) -> list[str]:
    quarter = len(settled) // 4
    if quarter == 0:
        return ["the last report came too late to judge the memory"]
    early = statistics.median(each["rss_bytes"] for each in settled[:quarter])
    late = statistics.median(each["rss_bytes"] for each in settled[-quarter:])
    caught = settled[-1]["caught"] - settled[0]["caught"]
    print(
        f"{len(settled)} s and {caught} out-of-memories after the last report:"
        f" memory {early / 2**20:.1f} MiB in the first quarter of it,"
        f" {late / 2**20:.1f} MiB in the last"
    )
    return ["the memory grew"] if late - early > _MOST_GROWTH_BYTES else []


def _judged_runs(logdir: Path, first: dict[str, str], caught: int) -> list[str]:
    runs = _runs(logdir)
    print(f"{len(runs)} runs (at most {_MAX_REPORTS})")
    problems = [] if 0 < len(runs) <= _MAX_REPORTS else ["the number of runs"]
    if caught < len(runs):
        problems.append("fewer errors reached the job than there are runs")
    if runs and _content(runs[0]) != first:
        problems.append("the first incident is not as it was written")
    for name, run in (("first", runs[:1]), ("last", runs[-1:])):
        for each in run:
            answer = subprocess.run(
                [sys.executable, "-m", "oom_forensics", "report", each],
                capture_output=True,
                text=True,
                check=False,
            )
            is_whole = answer.returncode == 0 and "Why:" in answer.stdout
            print(f"{name} incident {each.name}: {'whole' if is_whole else 'not whole'}")
            if not is_whole:
                problems.append(f"the {name} incident: {answer.stderr or answer.stdout[:500]}")
    return problems


def _runs(logdir: Path) -> list[Path]:
    """The runs of out-of-memories that are whole, the first one first."""
    traces = logdir.glob("plugins/profile/*_oom*/*.xplane.pb")
    return [each.parent for each in sorted(traces, key=lambda each: each.stat().st_mtime_ns)]


def _content(run: Path) -> dict[str, str]:
    return {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted(run.iterdir())
        if each.suffix == ".pb"
    }


sys.exit(main())
