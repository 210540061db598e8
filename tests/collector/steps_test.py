"""Training steps and how an op ran are told without TensorFlow's profiler, too."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Dataset = Callable[..., Any]
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(scope="module")
def folder(run_python: RunPython, tmp_path_factory: pytest.TempPathFactory) -> Path:
    logdir = tmp_path_factory.mktemp("steps")
    done = run_python(SCRIPTS / "steps.py", logdir)
    assert done.returncode == 0, done.stderr
    return logdir


def steps_in(dataset: Dataset, logdir: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dataset(logdir, "steps")["steps"]
    return found


def numbers_in(dataset: Dataset, logdir: Path) -> list[int]:
    return [int(each["step"]["step"]) for each in steps_in(dataset, logdir)]


def test_batches_of_keras_are_counted_through_the_epochs(dataset: Dataset, folder: Path) -> None:
    # 0 was a train_on_batch before the recording.
    assert numbers_in(dataset, folder / "keras") == list(range(1, 9))


def test_validation_is_no_training_step(dataset: Dataset, folder: Path) -> None:
    uses = steps_in(dataset, folder / "keras")
    ends = {int(use["step"]["step"]): int(use["step"]["endNs"]) for use in uses}
    begins = {int(use["step"]["step"]): int(use["step"]["beginNs"]) for use in uses}
    assert ends[1] == begins[2]
    assert ends[4] < begins[5]


def test_a_loop_of_ones_own_numbers_its_steps(dataset: Dataset, folder: Path) -> None:
    assert numbers_in(dataset, folder / "own_loop") == [100, 101, 102]


def test_a_profile_of_fit_has_the_steps_that_the_profiler_does_not_tell(
    dataset: Dataset, folder: Path
) -> None:
    # Three train_on_batch counted 9, 10, 11.
    assert numbers_in(dataset, folder / "profile") == list(range(12, 20))


def test_the_flight_recorder_keeps_the_steps_of_its_events(dataset: Dataset, folder: Path) -> None:
    assert numbers_in(dataset, folder / "snapshot")[-8:] == list(range(12, 20))


def test_eager_ops_and_nodes_of_graphs_are_told_apart(dataset: Dataset, folder: Path) -> None:
    answer = dataset(folder / "keras", "allocations", "--range", "--rows=10000")
    modes: dict[str, set[str]] = {}
    for each in answer["allocations"]:
        modes.setdefault(each["opName"], set()).add(each["mode"])
    assert modes["Square"] == {"EAGER"}
    layers = [op for op in modes if "/dense" in op and op.startswith("StatefulPartitionedCall")]
    assert layers
    assert {mode for op in layers for mode in modes[op]} == {"GRAPH"}
