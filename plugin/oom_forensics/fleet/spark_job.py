"""The job that Spark runs: convert runs, bring the rows of a partition together, write them.

What a task does can be done again: files bear names of their own, and only those that a task
which ended well has named are committed. So a worker that dies costs time, and nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.progress import Progress
from oom_forensics.fleet.run_finder import FleetRun
from oom_forensics.fleet.storage import FleetError
from oom_forensics.fleet.table_files import Partition, TableFile, write_partitions, write_without

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNS_PER_FILE = 2_000
"""Runs whose rows share a file, where a day has so many."""
_RUNS_PER_TASK = 64
_TASKS_PER_CORE = 4
# By default a task that fails in a local Spark is not tried again.
_EMBEDDED = "local[*,4]"

_Key = tuple[Partition, int, str]
"""Partition, the file of it, run."""


class SparkError(FleetError):
    """Spark could not be started, or gave a job up."""


class SparkJob:
    """A Spark that jobs are given to."""

    def __init__(self, master: str | None) -> None:
        """Starts Spark, or joins the one that `spark-submit` started.

        Args:
          master: as Spark names it; None: what spark-submit says, else inside this process.

        Raises:
          SparkError: Java is missing.
        """
        self._session = _start(master)

    def convert(
        self, runs: Sequence[FleetRun], url: str, limits: RunLimits, progress: Progress
    ) -> list[TableFile]:
        """Converts runs and writes their rows into files below `url`; none counts yet.

        Raises:
          SparkError: Spark gave the job up.
        """
        context = self._session.sparkContext
        done, failed = context.accumulator(0), context.accumulator(0)
        buckets = max(1, -(-len(runs) // RUNS_PER_FILE))
        tasks = min(
            len(runs),
            max(context.defaultParallelism * _TASKS_PER_CORE, len(runs) // _RUNS_PER_TASK),
        )

        def rows_of(run: FleetRun) -> Iterator[tuple[_Key, list[dict[str, Any]]]]:
            converted = convert(run, limits)
            bucket = zlib.crc32(run.run_id.encode()) % buckets
            for table, rows in converted.rows.items():
                if rows:
                    yield ((table, converted.day), bucket, run.run_id), rows
            done.add(1)
            failed.add(int(converted.failed))

        def write(rows: Iterator[tuple[_Key, list[dict[str, Any]]]]) -> Iterator[TableFile]:
            return write_partitions(url, ((key[0], some) for key, some in rows))

        with progress.watching(lambda: (done.value, failed.value)), _told_in_a_sentence():
            written: list[TableFile] = (
                context.parallelize(runs, tasks)
                .flatMap(rows_of)
                .repartitionAndSortWithinPartitions(
                    numPartitions=min(buckets * 8, context.defaultParallelism * _TASKS_PER_CORE),
                    partitionFunc=lambda key: zlib.crc32(repr(key[:2]).encode()),
                )
                .mapPartitions(write)
                .collect()
            )
        return written

    def rewrite_without(
        self, files: dict[str, list[str]], url: str, run_ids: set[str]
    ) -> dict[str, list[str]]:
        """Returns the tables' files without the rows of some runs, written again where needed."""
        if not run_ids:
            return files
        pairs = [(table, file) for table, some in files.items() for file in some]

        def rewrite(pair: tuple[str, str]) -> tuple[str, str | None]:
            return pair[0], write_without(url, pair[1], run_ids)

        left: dict[str, list[str]] = {table: [] for table in files}
        rewritten = self._session.sparkContext.parallelize(pairs, max(1, len(pairs) // 4)).map(
            rewrite
        )
        with _told_in_a_sentence():
            pairs_left = rewritten.collect()
        for table, file in pairs_left:
            if file is not None:
                left[table].append(file)
        return left

    def stop(self) -> None:
        """Ends Spark."""
        self._session.stop()


def _start(master: str | None) -> SparkSession:
    """Returns the session of `spark-submit`, of a cluster, or one inside this process.

    Raises:
      SparkError: Java is missing.
    """
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        raise SparkError(
            "Apache Spark needs Java 17 or newer and none was found: install it (Debian:"
            " apt-get install openjdk-17-jre-headless) or set JAVA_HOME."
        )
    # Workers run the Python that this is, unless it is said otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("oom-forensics fleet")
    master = master or SparkConf().get("spark.master", _EMBEDDED)
    if master == "local":
        master = "local[1,4]"
    elif master.startswith("local[") and "," not in master:
        master = f"{master[:-1]},4]"
    builder = builder.master(master).config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local["):
        builder = builder.config("spark.ui.enabled", "false").config(
            "spark.driver.bindAddress", "127.0.0.1"
        )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _told_in_a_sentence() -> Iterator[None]:
    from py4j.protocol import Py4JError

    try:
        yield
    except Py4JError as error:
        # Its words are two stack traces; the last line of Python's says what went wrong.
        said = re.findall(r"^\S*(?:Error|Exception)\b.*", str(error), re.MULTILINE)
        reason = said[-1] if said else str(error)
        raise SparkError(f"Spark gave up, nothing was committed: {reason}") from None
