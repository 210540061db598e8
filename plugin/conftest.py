"""A real trace for the Python tests: a small training job, really out of memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from oom_forensics.message import Message

# Converter and package are of one build here.
Message.strict = True

ROOT = Path(__file__).resolve().parents[1]
EXIT_OUT_OF_MEMORY = 3


@pytest.fixture(scope="session")
def oom_logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir of a demo job that ran out of memory under the profiler."""
    logdir = tmp_path_factory.mktemp("oom_logdir")
    job = subprocess.run(
        [sys.executable, "-m", "demos.fragmentation", "--logdir", logdir],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert job.returncode == EXIT_OUT_OF_MEMORY, job.stderr
    return logdir


@pytest.fixture(scope="session")
def oom_run(oom_logdir: Path) -> Path:
    """The folder of the profile; the flight recorder's report lies beside it."""
    (folder,) = (
        each for each in oom_logdir.glob("plugins/profile/*") if not each.name.endswith("_oom")
    )
    return folder
