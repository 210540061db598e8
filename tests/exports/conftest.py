"""One real out-of-memory for all tests of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.jobs import profile_in
from recordings.recording import LOGDIR


@pytest.fixture(scope="module")
def trace(record: Any) -> Path:
    """The trace of workload.py."""
    died = record(
        Path(__file__).with_name("workload.py"),
        LOGDIR,
        exit_code=None,
        says="OOM when allocating tensor",
    )
    found: Path
    (found,) = profile_in(died.logdir).glob("*.xplane.pb")
    return found


@pytest.fixture(scope="module")
def export(trace: Path, tmp_path_factory: pytest.TempPathFactory, command: Any) -> Any:
    """Writes the trace in another format; returns the file."""

    def write(verb: str, name: str, *arguments: str) -> Path:
        path: Path = tmp_path_factory.mktemp("export") / name
        done = command(verb, trace, *arguments, "-o", path)
        assert done.returncode == 0, done.stderr
        return path

    return write
