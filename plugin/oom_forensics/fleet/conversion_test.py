"""One run into rows: equal to the command's answers, and within its limits."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from oom_forensics.converter_binary import converter_path
from oom_forensics.datasets import Query
from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.run_finder import find_runs
from oom_forensics.fleet.run_rows import rows_of_run
from oom_forensics.fleet.tables import TABLES
from oom_forensics.message import Message

_Answer = TypeVar("_Answer", bound=Message)


def test_rows_equal_those_of_the_command_run_by_hand(jobs: Path) -> None:
    (run,) = find_runs([str(jobs / "one")])

    def by_command(answer: type[_Answer], query: Query) -> _Answer:
        asked = [f"--dataset={query.dataset.value.lower()}", f"--limit={query.limit}"]
        if query.filter.allocator:
            asked += [f"--host={query.filter.host}", f"--allocator={query.filter.allocator}"]
        if query.group_by.value != "GROUP_NONE":
            asked.append(f"--group-by={query.group_by.value.removeprefix('GROUP_').lower()}")
            asked.append("--at=peak" if query.at.peak else f"--at=oom:{query.at.oom}")
        done = subprocess.run(
            [converter_path(), "convert", run.url, *asked],
            check=True,
            capture_output=True,
        )
        return answer.from_json(json.loads(done.stdout))

    by_hand, _ = rows_of_run(by_command)
    converted = convert(run, RunLimits())
    assert not converted.failed
    assert len(converted.rows["incidents"]) == 1
    assert len(converted.rows["sites"]) > 50
    for table, rows in by_hand.items():
        assert len(converted.rows[table]) == len(rows)
        for row, other in zip(converted.rows[table], rows, strict=True):
            assert row == {**row, **other}, table


def test_every_row_fits_its_table(jobs: Path) -> None:
    for run in find_runs([str(jobs)]):
        for table, rows in convert(run, RunLimits()).rows.items():
            schema = TABLES[table].schema
            assert all(set(row) == set(schema.names) for row in rows), table
            assert pa.Table.from_pylist(rows, schema).num_rows == len(rows)


def test_a_damaged_run_is_a_row_with_the_converters_sentence_and_exit_code(jobs: Path) -> None:
    (run,) = find_runs([str(jobs / "damaged")])
    converted = convert(run, RunLimits())
    (row,) = converted.rows.pop("errors")
    assert converted.rows == {}
    assert row["exit_code"] == 1
    assert "truncated" in row["sentence"]
    assert row["elapsed_ms"] >= 0
    assert (row["job"], row["url"], row["version"]) == ("damaged", run.url, run.version)


def test_limits_of_a_run_are_rows_too(jobs: Path) -> None:
    (run,) = find_runs([str(jobs / "two")])
    (slow,) = convert(run, RunLimits(seconds=0)).rows["errors"]
    assert "--run-seconds" in slow["sentence"]
    (large,) = convert(run, RunLimits(run_bytes=1 << 10)).rows["errors"]
    assert "--run-mib" in large["sentence"]
    assert large["exit_code"] is None


def test_a_run_that_is_gone_by_now_is_a_row(jobs: Path) -> None:
    (run,) = find_runs([str(jobs / "two")])
    (row,) = convert(replace(run, url=f"{jobs}/gone"), RunLimits()).rows["errors"]
    assert row["sentence"]
