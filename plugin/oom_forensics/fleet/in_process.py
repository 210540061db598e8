"""The job without Spark: one run after the other, in this process. For a handful of runs."""

from __future__ import annotations

from collections.abc import Sequence

from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.progress import Progress
from oom_forensics.fleet.run_finder import FleetRun
from oom_forensics.fleet.run_rows import Rows
from oom_forensics.fleet.table_files import (
    Partition,
    TableFile,
    write_partitions,
    write_without,
)


class InProcess:
    """Does what `spark_job.SparkJob` does."""

    def convert(
        self, runs: Sequence[FleetRun], url: str, limits: RunLimits, progress: Progress
    ) -> list[TableFile]:
        """Converts runs and writes their rows into files below `url`; none counts yet."""
        partitions: dict[Partition, Rows] = {}
        done, failed = 0, 0
        with progress.watching(lambda: (done, failed)):
            for run in runs:
                converted = convert(run, limits)
                done, failed = done + 1, failed + converted.failed
                for table, rows in converted.rows.items():
                    if rows:
                        partitions.setdefault((table, converted.day), {})[run.run_id] = rows
            ordered = (
                (partition, rows)
                for partition, by_run in sorted(partitions.items())
                for _, rows in sorted(by_run.items())
            )
            return list(write_partitions(url, ordered))

    def rewrite_without(
        self, files: dict[str, list[str]], url: str, run_ids: set[str]
    ) -> dict[str, list[str]]:
        """Returns the tables' files without the rows of some runs, written again where needed."""
        return {
            table: [
                kept for file in some if (kept := write_without(url, file, run_ids)) is not None
            ]
            for table, some in files.items()
        }

    def stop(self) -> None:
        """Nothing is running."""
