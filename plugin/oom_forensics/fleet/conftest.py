"""Real traces for the tests of the fleet: those that the fuzzers begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oom_forensics.fleet.fleet_command import main

CORPUS = Path(__file__).resolve().parents[3] / "converter/fuzz/corpus/trace"


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A folder of three jobs with a run each, one of them with a damaged trace."""
    folder = tmp_path / "jobs"
    for job, trace in {"one": "collector", "two": "compiled", "damaged": "collector"}.items():
        run = folder / job / "train/plugins/profile/2026_11_20_12_00_00"
        run.mkdir(parents=True)
        shutil.copy(CORPUS / f"{trace}.xplane.pb", run / "host.xplane.pb")
    damaged = next((folder / "damaged").rglob("*.xplane.pb"))
    damaged.write_bytes(damaged.read_bytes()[:-100])
    return folder


@pytest.fixture
def tables(jobs: Path, tmp_path: Path) -> Path:
    """The tables of `jobs`, made without Spark."""
    folder = tmp_path / "tables"
    assert main([str(jobs), "-o", str(folder), "--master", "none"]) == 0
    return folder
