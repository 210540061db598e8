"""One real out-of-memory for all tests of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory, run_python: Any) -> Path:
    """The trace of workload.py."""
    logdir = tmp_path_factory.mktemp("exports")
    died = run_python(Path(__file__).with_name("workload.py"), logdir)
    assert "OOM when allocating tensor" in died.stderr, died.stderr
    found: Path
    (found,) = logdir.glob("plugins/profile/*[0-9]/*.xplane.pb")
    return found


@pytest.fixture(scope="session")
def export(trace: Path, tmp_path_factory: pytest.TempPathFactory, command: Any) -> Any:
    """Writes the trace in another format; returns the file."""

    def write(verb: str, name: str, *arguments: str) -> Path:
        path: Path = tmp_path_factory.mktemp("export") / name
        done = command(verb, trace, *arguments, "-o", path)
        assert done.returncode == 0, done.stderr
        return path

    return write
