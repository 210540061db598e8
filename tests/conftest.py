"""What every end-to-end test needs: real TensorFlow, really out of memory, and the command.

The tests run in an environment where the wheel is installed (`tools/test` makes it).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from advice.words import different_words, told_runs
from recordings.failed_tests import pytest_runtest_makereport, pytest_sessionfinish  # noqa: F401
from recordings.recording import Recording, recorded

# A real tsl::BFCAllocator for CPU tensors, and a limit that is quickly reached.
BFC_ENVIRONMENT = {
    "TF_CPU_ALLOCATOR_USE_BFC": "1",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB": "256",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "",
    # Tests share the machine with builds: what a report holds must not depend on that.
    "OOM_FORENSICS_MAX_HOLD_SECONDS": "60",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with what takes long: at the end it would run alone."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


RunPython = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., Recording]
Command = Callable[..., subprocess.CompletedProcess[str]]
Dataset = Callable[..., Any]
SameWords = Callable[..., None]


@pytest.fixture(scope="session")
def bfc_environment() -> dict[str, str]:
    """The variables that give a process a small BFC allocator for CPU tensors."""
    return BFC_ENVIRONMENT


@pytest.fixture(scope="session")
def run_python() -> RunPython:
    """Runs a script in a process of its own, with a small BFC allocator for CPU tensors."""

    def run(
        script: Path, *arguments: str | Path, timeout: float = 300, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), *map(str, arguments)],
            # A crash says where Python was.
            env={**os.environ, "PYTHONFAULTHANDLER": "1", **BFC_ENVIRONMENT, **environment},
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def record() -> Record:
    """What a script left that was run as `run_python` does, for tests that only look at it.

    See `recordings/recording.py`.
    """

    def record(
        script: Path,
        *arguments: str,
        exit_code: int | None = 0,
        says: str = "",
        timeout_s: float = 300,
        sources: Sequence[Path] = (),
        **environment: str,
    ) -> Recording:
        return recorded(
            [sys.executable, script, *arguments],
            {**BFC_ENVIRONMENT, **environment},
            [script.parent, *sources],
            exit_code=exit_code,
            says=says,
            timeout_s=timeout_s,
        )

    return record


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs the installed `oom-forensics` command."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [Path(sys.executable).with_name("oom-forensics"), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def dataset(command: Command) -> Dataset:
    """The answer of `oom-forensics convert PATH --dataset=NAME ...`, as parsed JSON."""

    def ask(path: Path, name: str, *arguments: str) -> Any:
        done = command("convert", path, f"--dataset={name}", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def same_words() -> SameWords:
    """Checks that one out-of-memory is told in the same words wherever it is told.

    `told` is what a process printed that ran out of memory.
    """

    def check(told: str) -> None:
        assert told_runs(told), "the flight recorder left no run"
        assert different_words(told) == []

    return check
