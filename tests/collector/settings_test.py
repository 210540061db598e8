"""What the settings do to a recording."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
SCRIPTS = Path(__file__).parent / "scripts"
SCRIPT = SCRIPTS / "record_some.py"
SMALL, MIDDLE, LARGE = 64 * 4, 4096 * 4, 1024 * 512 * 4


def record(run_python: RunPython, logdir: Path, **settings: str) -> dict[str, Any]:
    done = run_python(SCRIPT, logdir, **settings)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def sizes(answer: dict[str, Any]) -> list[int]:
    return [allocation["requested"] for allocation in answer["allocations"]]


def test_smaller_than_min_bytes_is_counted_but_not_recorded(
    run_python: RunPython, tmp_path: Path
) -> None:
    answer = record(run_python, tmp_path, OOM_FORENSICS_MIN_BYTES=str(MIDDLE))
    assert set(sizes(answer)) == {MIDDLE, LARGE}
    assert int(answer["totals"]) >= 803


def test_sampling_keeps_the_large_and_weighs_the_small(
    run_python: RunPython, tmp_path: Path
) -> None:
    answer = record(run_python, tmp_path, OOM_FORENSICS_ALLOCATION_LOG_SAMPLING_RATE="0.25")
    large = [a for a in answer["allocations"] if a["requested"] == LARGE]
    small = [a for a in answer["allocations"] if a["requested"] != LARGE]
    assert [a["weight"] for a in large] == [1.0] * 3
    assert {a["weight"] for a in small} == {4.0}
    # 800 tosses of 1/4: five standard deviations of the estimate are 245.
    assert abs(4 * len(small) - 800) < 245


def test_anonymous_addresses_are_small_and_keep_their_distances(
    run_python: RunPython, tmp_path: Path
) -> None:
    answer = record(run_python, tmp_path, OOM_FORENSICS_ANONYMIZE_ADDRESSES="1")
    addresses = [a["address"] for a in answer["allocations"]]
    assert min(addresses) >= 1 << 32
    assert len(set(addresses)) == len(addresses)
    assert all(address % 256 == min(addresses) % 256 for address in addresses)


def test_anonymous_addresses_are_so_in_every_plane_and_file(
    run_python: RunPython, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "anonymous.py", tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    # Where they are real they are found: in events and regions.
    assert len(found["real"]["snapshot"]) >= 2
    assert found["anonymous"] == {
        "record": [],
        "profile": [],
        "snapshot": [],
        "out_of_memory": [],
    }


def test_numbers_do_not_depend_on_the_language(run_python: RunPython, tmp_path: Path) -> None:
    """A locale whose numbers have a comma is made, as a machine need not have one."""
    localedef = shutil.which("localedef")
    locales = tmp_path / "locales"
    locales.mkdir()
    made = localedef and subprocess.run(
        [localedef, "--no-archive", "-i", "de_DE", "-f", "UTF-8", locales / "de_DE.UTF-8"],
        capture_output=True,
        check=False,
    )
    if not made or made.returncode != 0:
        pytest.skip("no locale can be made here: the package locales is not installed")
    done = run_python(
        SCRIPTS / "speaks_german.py",
        LOCPATH=str(locales),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "0,5"
    states = json.loads(done.stdout.splitlines()[1])
    assert 0 < states[0]["fragmentation"] < 1


def test_what_is_recorded_cannot_change_under_way(run_python: RunPython) -> None:
    done = run_python(SCRIPTS / "configure_late.py")
    assert done.stdout.splitlines() == [
        "RecorderError: min_bytes can only be set before the first allocation",
        "RecorderError: snapshot_signal is read when TensorFlow is imported; set it before",
        "ValueError: max_reports must be a whole number from 0 to 1000, not '-1'",
        "set",
    ], done.stderr


def test_the_signal_of_the_users_choice_writes_a_snapshot(
    run_python: RunPython, tmp_path: Path
) -> None:
    done = run_python(
        SCRIPTS / "signalled.py",
        tmp_path,
        OOM_FORENSICS_SNAPSHOT_SIGNAL="SIGUSR2",
        OOM_FORENSICS_LOGDIR=str(tmp_path / "made/on/demand"),
    )
    assert done.stdout.strip() == "went on (100, 100)", done.stderr
    (run,) = (tmp_path / "made/on/demand/plugins/profile").iterdir()
    assert run.name.endswith("_snapshot")
    assert f"snapshot: {run}" in done.stderr


def test_without_that_setting_the_signal_is_the_jobs_own(
    run_python: RunPython, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "signalled.py", tmp_path)
    assert done.returncode == -12
