"""Converts real runs on a real cluster and object store, and compares every row.

    python -m fleets.try_cluster [RUNS] [--count 300] [--work DIR]

1. records `count` small runs from the demos into RUNS, if they are not there, and damages one
   in fifty of a copy of them;
2. puts the copy into an object store, and converts it from there on two workers, one of which
   is killed in the middle;
3. asks the command about each run by itself: every row must be the same;
4. reads the tables with pyarrow, pandas and DuckDB, and makes the page.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from fleets.by_command import rows_by_command
from fleets.servers import Cluster, s3_server, spark_cluster

RUNS_URL = "s3://fleet/runs"
TABLES_URL = "s3://fleet/tables"
_DAMAGED = 50


def main() -> int:
    """Returns the exit code: 0 where all is as the command says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="?", type=Path, default=Path("build/fleet/runs"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--work", type=Path, default=Path("build/fleet/work"))
    options = parser.parse_args()
    recorder = [sys.executable, "-m", "fleets.record", options.runs, "--count", str(options.count)]
    subprocess.run(recorder, check=True)
    work = options.work.absolute()
    shutil.rmtree(work, ignore_errors=True)
    copy = work / "runs"
    shutil.copytree(options.runs, copy)
    damaged = _damage(copy)
    with s3_server(work) as environment:
        os.environ.update(environment)
        _upload(copy)
        with spark_cluster(work) as cluster:
            _convert(cluster)
            again = _fleet("--master", cluster.url)
            _require(", 0 of them new or changed" in again.communicate()[0], "a run is done twice")
        wrong = _compare(copy, damaged)
        _read(work)
    print("as the command says" if not wrong else f"{wrong} runs DIFFER")
    return 1 if wrong else 0


def _require(true: bool, sentence: str) -> None:
    if not true:
        sys.exit(f"tools/try_fleet: {sentence}")


def _damage(folder: Path) -> set[str]:
    """Cuts the end off one run in fifty; returns their names in the store."""
    traces = sorted(folder.rglob("*.xplane.pb"))[::_DAMAGED]
    for trace in traces:
        trace.write_bytes(trace.read_bytes()[:-20])
    return {str(trace.parent.relative_to(folder)) for trace in traces}


def _upload(folder: Path) -> None:
    import s3fs

    s3fs.S3FileSystem().put(f"{folder}/", f"{RUNS_URL}/", recursive=True)


def _fleet(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "oom_forensics", "fleet", RUNS_URL, "-o", TABLES_URL]
    return subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _convert(cluster: Cluster) -> None:
    """Converts all runs, and kills a worker once a third of them is done."""
    begin = time.monotonic()
    fleet = _fleet("--master", cluster.url)
    killed = False
    for line in fleet.stdout or ():
        progress = re.match(r"(\d+) of (\d+) runs", line)
        if progress or " runs " in line:
            print(f"  {line.strip()}", flush=True)
        if progress and not killed and 3 * int(progress[1]) > int(progress[2]):
            cluster.workers[0].kill()
            killed = True
            print("  -- a worker is killed", flush=True)
    _require(fleet.wait() == 0, "the fleet failed")
    _require(killed, "no worker was killed: there are too few runs")
    print(f"converted in {time.monotonic() - begin:.0f} s")


def _compare(folder: Path, damaged: set[str]) -> int:
    """Compares every row of every run with the command; returns how many runs differ."""
    from oom_forensics import fleet

    tables: dict[str, dict[str, list[dict[str, Any]]]] = {}
    names = {}
    for table in ("runs", "incidents", "sites", "allocators", "steps", "quality", "errors"):
        by_run: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in fleet.dataset(TABLES_URL, table).to_table().to_pylist():
            by_run[row["run_id"]].append(row)
            if "url" in row:
                names[row["url"].removeprefix(f"{RUNS_URL}/")] = row["run_id"]
        tables[table] = by_run
    everything = {str(trace.parent.relative_to(folder)) for trace in folder.rglob("*.xplane.pb")}
    _require(set(names) == everything, "runs are lost")
    wrong = 0
    for name in sorted(everything):
        run_id = names[name]
        try:
            expected = rows_by_command(str(folder / name))
            same = name not in damaged and not tables["errors"][run_id]
        except subprocess.CalledProcessError as refused:
            expected = {}
            (error,) = tables["errors"][run_id]
            said = refused.stderr.decode()
            same = name in damaged and error["exit_code"] == refused.returncode
            same = same and error["sentence"].split(":")[-1].strip() in said
        for table in tables.keys() - {"errors"}:
            rows = tables[table][run_id]
            others = expected.get(table, [])
            same = same and len(rows) == len(others)
            same = same and all(
                row == {**row, **other} for row, other in zip(rows, others, strict=False)
            )
        if not same:
            print(f"  {name} differs")
            wrong += 1
    print(f"{len(everything)} runs compared with the command, {len(damaged)} of them damaged")
    return wrong


def _read(work: Path) -> None:
    from oom_forensics import fleet
    from oom_forensics.cli.main import main as command

    runs = fleet.dataset(TABLES_URL, "runs").to_table()
    verdicts = fleet.connect(TABLES_URL).sql(
        "select verdict.kind, count(*) from incidents group by all order by all"
    )
    print(f"pyarrow: {runs.num_rows} runs, pandas: {len(runs.to_pandas())} runs")
    print(f"DuckDB: {verdicts.fetchall()}")
    command(["fleet-report", TABLES_URL, "-o", str(work / "page.html")])


if __name__ == "__main__":
    sys.exit(main())
