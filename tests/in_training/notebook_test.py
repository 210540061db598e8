"""A notebook's lines are told with their cell and text, run by a real Jupyter kernel."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recordings.recording import LOGDIR, Recording

Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts/notebook.py"


@pytest.fixture(scope="module")
def report(record: Callable[..., Recording], command: Command) -> str:
    logdir, ended = record(SCRIPT, LOGDIR)
    assert json.loads(ended.stdout) == ["ResourceExhaustedError"]
    done = command("report", logdir, "--full")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        # An eager op: the collector's stack, whose text only the kernel has.
        r"\d+\.py:3: In\[2\]: losses\.append\(tf\.random\.uniform",
        # A graph's op: where the layer was made that it is of.
        r"\d+\.py:1: In\[3\]: layer = keras\.layers\.Dense\(512, name='wide'\)",
        # What was refused.
        r"\d+\.py:1: In\[4\]: too_large = tf\.zeros",
    ],
)
def test_a_line_is_told_with_its_cell_and_its_text(report: str, line: str) -> None:
    assert re.search(line, report), report


def test_what_keeps_a_tensor_is_a_variable_of_the_notebook(report: str) -> None:
    assert re.search(r"MiB in 4: list 'losses' in __main__ \(4 items\)", report), report
