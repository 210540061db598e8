"""`oom-forensics fleet`: many runs into tables, on Apache Spark.

    oom-forensics fleet 's3://bucket/jobs/*' -o s3://bucket/fleet --master spark://host:7077

Run again, it converts what is new or changed. For spark-submit this file is the application.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from oom_forensics.core.commands import exit_code_of
from oom_forensics.fleet.conversion import RunLimits
from oom_forensics.fleet.in_process import InProcess
from oom_forensics.fleet.progress import Progress
from oom_forensics.fleet.reading import table_of
from oom_forensics.fleet.run_finder import find_runs
from oom_forensics.fleet.schema import TABLES
from oom_forensics.fleet.snapshot import (
    Snapshot,
    commit,
    read_snapshot,
    remove_unused,
)
from oom_forensics.fleet.spark_job import SparkJob
from oom_forensics.fleet.storage import Folder

EXIT_DONE = 0
_NO_SPARK = "none"


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "fleet"."""
    options = _parser().parse_args(list(arguments))
    if options.schema:
        _print_schema()
        return EXIT_DONE
    if not options.runs or not options.output:
        _parser().error("say which runs, and where the tables go: GLOB… -o DIR")
    _convert(options)
    return EXIT_DONE


def _convert(options: argparse.Namespace) -> None:
    begin = time.monotonic()
    folder = Folder(options.output)
    base = read_snapshot(folder)
    found = find_runs(options.runs, options.job)
    known = _versions(folder, base)
    wanted = [run for run in found if options.again or known.get(run.run_id) != run.version]
    print(f"{len(found)} runs found, {len(wanted)} of them new or changed", file=sys.stderr)
    if not wanted:
        return
    job = InProcess() if options.master == _NO_SPARK else SparkJob(options.master)
    limits = RunLimits(options.run_seconds, options.converter_mib << 20, options.run_mib << 20)
    progress = Progress(len(wanted))
    errors = 0
    try:
        for first in range(0, len(wanted), options.commit_every):
            batch = wanted[first : first + options.commit_every]
            written = job.convert(batch, options.output, limits, progress)
            changed = {run.run_id for run in batch} & known.keys()
            files = job.rewrite_without(base.files, options.output, changed)
            for file in sorted(written):
                files[file.table] = [*files[file.table], file.path]
            base = commit(folder, base, files)
            errors += sum(file.row_count for file in written if file.table == "errors")
    finally:
        job.stop()
    remove_unused(folder)
    took_s = time.monotonic() - begin
    print(
        f"{len(wanted)} runs converted in {took_s:.1f} s, {errors} of them are rows of `errors`;"
        f" snapshot {base.number} of {options.output}",
        file=sys.stderr,
    )


def _versions(folder: Folder, snapshot: Snapshot) -> dict[str, str]:
    """Returns run_id → version of the runs that the tables have."""
    versions: dict[str, str] = {}
    for table in ("runs", "errors"):
        rows = table_of(folder, snapshot, table).to_table(columns=["run_id", "version"])
        versions.update(zip(rows["run_id"].to_pylist(), rows["version"].to_pylist(), strict=True))
    return versions


def _print_schema() -> None:
    for table in TABLES.values():
        print(f"{table.name}: {table.about}")
        for column in table.schema:
            print(f"  {column.name}: {column.type}")


def _parser() -> argparse.ArgumentParser:
    defaults = RunLimits()
    parser = argparse.ArgumentParser(
        prog="oom-forensics fleet",
        description="Converts many runs into Parquet tables, on Apache Spark. If you run it again,"
        " it converts only new and changed runs.",
    )
    parser.add_argument(
        "runs", nargs="*", metavar="RUNS", help="folders, traces, globs, @FILE; paths or URLs"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="where the tables are; path or URL")
    parser.add_argument(
        "--master",
        help="Spark's master; default: all cores of this machine; none: one run after the other,"
        " without Spark",
    )
    parser.add_argument("--job", metavar="REGEX", help="its group names a run's job")
    parser.add_argument("--again", action="store_true", help="convert known runs too")
    parser.add_argument("--schema", action="store_true", help="print the tables' columns")
    parser.add_argument(
        "--run-seconds",
        type=float,
        default=defaults.seconds,
        help="time limit for one run (%(default)s)",
    )
    parser.add_argument(
        "--converter-mib",
        type=int,
        default=defaults.memory_bytes >> 20,
        help="memory limit for one run (%(default)s)",
    )
    parser.add_argument(
        "--run-mib",
        type=int,
        default=defaults.run_bytes >> 20,
        help="largest run that is converted (%(default)s)",
    )
    parser.add_argument(
        "--commit-every",
        type=int,
        default=20_000,
        metavar="RUNS",
        help="runs that one commit adds (%(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:])))
