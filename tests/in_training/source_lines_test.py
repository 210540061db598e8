"""Each eager allocation is told by the user's line that made it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, Recording

Dataset = Callable[..., Any]
Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts" / "marked_lines.py"
MARKED = {
    int(mark.group(1)): number
    for number, line in enumerate(SCRIPT.read_text().splitlines(), 1)
    if (mark := re.search(r"  # (\d{4})$", line))
}


@pytest.fixture(scope="module")
def folder(record: Callable[..., Recording]) -> Path:
    # Nothing breaks when threads allocate while the interpreter ends.
    return record(SCRIPT, LOGDIR, exit_code=0).logdir


@pytest.fixture(scope="module")
def live(dataset: Dataset, folder: Path) -> list[dict[str, Any]]:
    answer = dataset(folder, "allocations", "--at=end", "--rows=10000")
    found: list[dict[str, Any]] = answer["allocations"]
    return found


def of_size(live: list[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    return [each for each in live if each.get("shape") == [str(size)]]


@pytest.mark.parametrize("size", sorted(MARKED))
def test_the_line_is_the_marked_one(live: list[dict[str, Any]], size: int) -> None:
    found = of_size(live, size)
    assert found
    for allocation in found:
        line = allocation["source"]["line"]
        assert line["file"] == str(SCRIPT)
        assert line["line"] == MARKED[size] or size == 1008
        assert line["text"].endswith(f"# {size}") or size == 1008


def test_code_without_a_file_has_its_line(live: list[dict[str, Any]]) -> None:
    (allocation,) = of_size(live, 1015)
    assert allocation["source"]["line"]["file"] == "<string>"
    assert allocation["source"]["line"]["line"] == 3


def test_gradients_have_the_line_that_asks_for_them(live: list[dict[str, Any]]) -> None:
    texts = {each["source"]["line"]["text"] for each in of_size(live, 1008)}
    assert any("tape.gradient" in text for text in texts)


def test_nearly_all_bytes_have_a_line(live: list[dict[str, Any]]) -> None:
    total = sum(int(each["allocatedBytes"]) for each in live)
    told = sum(int(each["allocatedBytes"]) for each in live if "line" in each.get("source", {}))
    assert told >= 0.99 * total


def test_the_live_set_is_summed_up_by_line(dataset: Dataset, folder: Path) -> None:
    answer = dataset(folder, "allocations", "--at=end", "--group-by=line")
    by_line = {group["line"]["line"]: group for group in answer["groups"] if "line" in group}
    assert int(by_line[MARKED[1014]]["count"]) == 50


def test_a_filter_keeps_a_line(dataset: Dataset, folder: Path) -> None:
    asked = ("--at=end", "--file=marked_lines.py", f"--line={MARKED[1013]}")
    assert int(dataset(folder, "allocations", *asked)["totalCount"]) == 3


def test_folded_stacks_lead_from_the_program_to_the_op(command: Command, folder: Path) -> None:
    done = command("convert", folder, "--format=folded", "--at=end", "-o", "-")
    assert done.returncode == 0, done.stderr
    assert re.search(
        rf"^<module> \(marked_lines\.py:\d+\);plain \(marked_lines\.py:{MARKED[1001]}\);"
        r"Fill \d+$",
        done.stdout,
        re.MULTILINE,
    )
