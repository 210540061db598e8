"""CSV of every dataset, and the exit codes for CI."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("info", "hosts.allocators.peak_in_use_bytes"),
        ("memory_timeline", "in_use_max_bytes"),
        ("allocations", "allocated_bytes"),
        ("fragmentation", "size_bytes"),
        ("oom_window", "request.requested_bytes"),
        ("steps", "survivor_bytes"),
    ],
)
def test_every_line_of_a_csv_has_the_columns_of_its_header(
    trace: Path, command: Any, name: str, column: str
) -> None:
    done = command("convert", trace, f"--dataset={name}", "--format=csv", "--at=oom:0")
    assert done.returncode == 0, done.stderr
    header, *lines = csv.reader(io.StringIO(done.stdout))
    assert any(each.endswith(column.rpartition(".")[2]) for each in header), header
    assert lines
    assert {len(line) for line in lines} == {len(header)}


def test_allocations_in_csv_are_those_in_json(trace: Path, command: Any, dataset: Any) -> None:
    arguments = ("--at=oom:0", "--limit=10000")
    done = command("convert", trace, "--dataset=allocations", "--format=csv", *arguments)
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    answer = dataset(trace, "allocations", *arguments)
    assert [line["address"] for line in lines] == [
        each["address"] for each in answer["allocations"]
    ]
    assert [line["op_name"] for line in lines] == [each["opName"] for each in answer["allocations"]]


@pytest.mark.parametrize(("conditions", "code"), [("oom", 3), ("probe", 0), ("probe,oom", 3)])
def test_fail_on_tells_ci(trace: Path, command: Any, conditions: str, code: int) -> None:
    done = command("report", trace, f"--fail-on={conditions}")
    assert done.returncode == code, done.stderr
    assert "Out of memory" in done.stdout or "OOM" in done.stdout
    assert ("--fail-on=oom is met" in done.stderr) == (code == 3)


def test_an_unknown_condition_is_wrong_usage(trace: Path, command: Any) -> None:
    done = command("report", trace, "--fail-on=rain")
    assert done.returncode == 2
    assert '"rain" is not one of oom, probe, leak, near-limit, lost' in done.stderr


def test_an_unknown_format_is_wrong_usage(trace: Path, command: Any) -> None:
    done = command("convert", trace, "--format=flamegraph")
    assert done.returncode == 2
    assert "pprof, folded, perfetto" in done.stderr
