"""One run into rows: equal to the command's answers, and within its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fsspec
import pyarrow as pa
from fleets.by_command import rows_by_command

from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.run_finder import find_runs
from oom_forensics.fleet.schema import TABLES


def test_rows_equal_those_of_the_command_run_by_hand(jobs: Path) -> None:
    (run,) = find_runs([str(jobs / "one")])

    by_hand = rows_by_command(run.url)
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


def test_a_run_that_needs_more_memory_than_its_limit_is_a_row(jobs: Path) -> None:
    # One after the other they are one XSpace: a message's fields may repeat.
    trace = next((jobs / "two").rglob("*.xplane.pb"))
    trace.write_bytes(trace.read_bytes() * 20)
    (run,) = find_runs([str(jobs / "two")])
    for _ in range(5):
        (row,) = convert(run, RunLimits(memory_bytes=1 << 20)).rows["errors"]
        assert "too many for the limit of 1 MiB" in row["sentence"]


def test_a_run_that_is_gone_by_now_is_a_row(jobs: Path) -> None:
    (run,) = find_runs([str(jobs / "two")])
    (row,) = convert(replace(run, url=f"{jobs}/gone"), RunLimits()).rows["errors"]
    assert row["sentence"]


def test_a_remote_run_is_told_by_where_it_lies(jobs: Path) -> None:
    """fsspec's memory file system stands for one that has to be fetched from."""
    trace = next((jobs / "damaged").rglob("*.xplane.pb"))
    url = "memory://bucket/job/plugins/profile/2026_11_20/host.xplane.pb"
    with fsspec.open(url, "wb") as file:
        file.write(trace.read_bytes())
    (run,) = find_runs(["memory://bucket/job"])
    assert run.job == "job"
    (row,) = convert(run, RunLimits()).rows["errors"]
    assert row["sentence"].startswith(f"{run.url}/host.xplane.pb is cut off")
