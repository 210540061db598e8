"""Keras 2 (`tf_keras`, TF_USE_LEGACY_KERAS=1): its layers go by the line that made them, too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, Recording

SCRIPT = Path(__file__).parent / "scripts/keras2.py"
# tools/setup has put it there: beside Keras 3 it would be TensorFlow's choice to take it.
KERAS2 = Path(sys.prefix) / "keras2"


@pytest.fixture(scope="module")
def groups(record: Callable[..., Recording], dataset: Any) -> list[Any]:
    """All that was allocated, by line."""
    logdir, done = record(
        SCRIPT,
        LOGDIR,
        PYTHONPATH=str(KERAS2),
        TF_USE_LEGACY_KERAS="1",
        # Where it lies now it is no installed package.
        OOM_FORENSICS_LIBRARY_PATHS=str(KERAS2),
    )
    assert done.stdout.startswith("tf_keras.")
    answer = dataset(logdir, "allocations", "--range", "--group-by=line", "--rows=1")
    return list(answer["groups"])


def number_of(line: str) -> int:
    for number, text in enumerate(SCRIPT.read_text().splitlines(), start=1):
        if text.endswith(f"# line: {line}"):
            return number
    raise AssertionError(f"no line is marked {line}")


@pytest.mark.parametrize("line", ["inner dense", "head", "convolution", "optimizer", "loss"])
def test_what_a_layer_allocates_is_told_by_its_line(groups: list[Any], line: str) -> None:
    found = {
        group["line"]["line"]: int(group["allocatedBytes"])
        for group in groups
        if group.get("line") and group["line"]["file"] == str(SCRIPT)
    }
    assert found.get(number_of(line), 0) > 0, found


def test_almost_all_bytes_have_a_line(groups: list[Any]) -> None:
    in_all = sum(int(group["allocatedBytes"]) for group in groups)
    without = sum(int(group["allocatedBytes"]) for group in groups if not group.get("line"))
    assert without <= 0.01 * in_all
