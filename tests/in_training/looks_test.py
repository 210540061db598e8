"""Looking for evidence costs the job nothing of what it has run out of."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recordings.recording import LOGDIR, Recording

Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(scope="module")
def scattered(record: Callable[..., Recording]) -> Recording:
    return record(SCRIPTS / "scattered.py", LOGDIR)


@pytest.fixture(scope="module")
def looks(record: Callable[..., Recording]) -> Recording:
    return record(SCRIPTS / "looks.py", LOGDIR)


def runs(recording: Recording, suffix: str) -> list[str]:
    return [run.name for run in recording.logdir.glob(f"plugins/profile/*_{suffix}")]


def test_embeddings_that_fill_the_pool_are_not_copied(scattered: Recording) -> None:
    said = scattered.done.stdout.splitlines()
    assert said[0] == "requests of a snapshot: [0]"
    assert said[-1] == "values: [2.0, 2.0, 2.0]"


def test_the_error_comes_when_tensorflow_gives_up_and_is_the_only_one(
    scattered: Recording,
) -> None:
    (line,) = (
        line for line in scattered.done.stdout.splitlines() if line.startswith("seconds until")
    )
    # TensorFlow itself waits ten seconds for memory.
    assert int(line.rpartition(" ")[2]) < 20
    assert len(runs(scattered, "oom")) == 1
    assert "ReadVariableOp asked" not in scattered.done.stderr


def test_what_keeps_an_embedding_is_known_by_its_own_address(
    scattered: Recording, command: Command
) -> None:
    (run,) = scattered.logdir.glob("plugins/profile/*_oom")
    told = command("report", run, "--full")
    assert "list 'tables' in __main__ (3 items) -> ResourceVariable" in told.stdout


@pytest.mark.parametrize(
    ("look", "times"),
    [
        ("first values", 1),
        ("snapshot", 1),
        ("statistics", 1),
        ("watch_source_lines.<locals>.lines_of", 2),
        ("watch_keepers.<locals>.keepers_of", 2),
        ("register.<locals>.provider", 1),
    ],
)
def test_no_look_requests_anything_of_any_allocator(
    looks: Recording, look: str, times: int
) -> None:
    said = [line for line in looks.done.stdout.splitlines() if line.startswith(f"{look} requested")]
    assert said == [f"{look} requested: nothing"] * times


def test_what_a_look_is_refused_is_no_out_of_memory_of_the_job(looks: Recording) -> None:
    assert "<lambda> requested" in looks.done.stdout
    assert "out of memory" in looks.done.stdout
    assert "refused in all: 1\n" in looks.done.stdout
    assert len(runs(looks, "oom")) == 1


def test_what_a_look_saw_dies_when_the_program_drops_it(looks: Recording) -> None:
    assert "live on: []\n" in looks.done.stdout


def test_what_the_program_drops_during_a_look_does_not_live_until_its_end(
    record: Callable[..., Recording],
) -> None:
    said = record(SCRIPTS / "dropped.py").done.stdout
    took_s, lived_on_s = map(float, said.split())
    assert lived_on_s < took_s / 3
