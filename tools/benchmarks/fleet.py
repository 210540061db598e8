"""A fleet of runs on the embedded Spark, against one process in a loop.

    tools/bench fleet RUNS [--copies 1 2 4] [--workers 1 2]

RUNS are real runs (tools/try_fleet records 300); a fleet of more is made of links to them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.run_finder import find_runs


def main() -> int:
    """Measures, and prints a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    options = parser.parse_args()
    # Beside the runs: links lead to no other disk.
    beside = options.runs.absolute().parent
    with tempfile.TemporaryDirectory(prefix="oom_forensics_bench_", dir=beside) as name:
        folder = Path(name)
        _tell(how="one process in a loop", **_loop(options.runs))
        for copies in options.copies:
            fleet = folder / f"copies{copies}"
            for copy in range(copies):
                shutil.copytree(options.runs, fleet / str(copy), copy_function=os.link)
            for workers in options.workers:
                if copies == max(options.copies) or workers == max(options.workers):
                    _tell(how="spark", workers=workers, **_spark(fleet, folder, workers))
    return 0


def _loop(folder: Path) -> dict[str, float]:
    begin = time.perf_counter()
    runs = find_runs([str(folder)])
    for run in runs:
        convert(run, RunLimits())
    return _measured(folder, len(runs), time.perf_counter() - begin)


def _spark(fleet: Path, folder: Path, workers: int) -> dict[str, float]:
    tables = folder / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    command = [sys.executable, "-m", "oom_forensics", "fleet", str(fleet), "-o", str(tables)]
    begin = time.perf_counter()
    subprocess.run(
        [*command, "--master", f"local[{workers}]"], check=True, stderr=subprocess.DEVNULL
    )
    seconds = time.perf_counter() - begin
    from oom_forensics import fleet as reading

    rows = reading.dataset(str(tables), "runs").count_rows()
    rows += reading.dataset(str(tables), "errors").count_rows()
    return _measured(fleet, rows, seconds)


def _measured(folder: Path, runs: int, seconds: float) -> dict[str, float]:
    size = sum(trace.stat().st_size for trace in folder.rglob("*.xplane.pb"))
    return {
        "runs": runs,
        "mb": round(size / 1e6, 1),
        "seconds": round(seconds, 1),
        "runs_per_second": round(runs / seconds, 2),
        "mb_per_second": round(size / 1e6 / seconds, 2),
    }


def _tell(**measured: object) -> None:
    print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    sys.exit(main())
