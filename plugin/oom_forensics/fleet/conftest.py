"""Real traces for the tests of the fleet: those that the fuzzers begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.run_finder import find_runs
from oom_forensics.fleet.snapshot import Snapshot, commit
from oom_forensics.fleet.storage import Folder
from oom_forensics.fleet.table_files import write_partitions

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
    converted = [convert(run, RunLimits()) for run in find_runs([str(jobs)])]
    parts = [((table, one.day), rows) for one in converted for table, rows in one.rows.items()]
    parts.sort(key=lambda part: part[0])
    snapshot = Snapshot()
    for file in write_partitions(str(folder), parts):
        snapshot.files[file.table].append(file.path)
    commit(Folder(str(folder)), snapshot, snapshot.files)
    return folder
