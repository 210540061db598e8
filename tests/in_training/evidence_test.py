"""Python adds planes to every run that this process wrote, and never stands in the way."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oom_forensics.logdir.runs import scan
from recordings.recording import LOGDIR, Recording

Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts/every_moment.py"


@pytest.fixture(scope="module")
def recording(record: Callable[..., Recording], same_words: Callable[[str], None]) -> Recording:
    recording = record(SCRIPT, LOGDIR)
    same_words(recording.done.stderr)
    return recording


@pytest.fixture(scope="module")
def logdir(recording: Recording) -> Path:
    return recording.logdir


@pytest.fixture(scope="module")
def done(recording: Recording) -> subprocess.CompletedProcess[str]:
    return recording.done


@pytest.fixture(scope="module")
def answer(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout.splitlines()[-1])


def folder_of(told: Any, logdir: Path) -> str:
    """Of the run that a provider was told of."""
    if told["origin"] == "oom":
        return "oom"
    return Path(told["trace"]).relative_to(logdir).parts[0]


def test_a_provider_is_told_of_each_run_once(answer: Any, logdir: Path) -> None:
    told = {folder_of(each, logdir): each for each in answer["told"]}
    assert len(answer["told"]) == 5
    assert {name: each["origin"] for name, each in told.items()} == {
        "record": "profile",
        "snapshot": "snapshot",
        "profile": "profile",
        "profile after": "profile",
        "oom": "oom",
    }
    assert told["oom"]["request"] == "Fill"
    assert told["oom"]["caller"]
    assert told["snapshot"]["caller"] == str(SCRIPT)


def test_it_learns_which_ops_were_recorded_and_no_others(answer: Any) -> None:
    ops = {each["origin"]: each["ops"] for each in answer["told"]}
    assert {"Fill", "AddV2"} <= set(ops["oom"])
    assert "MatMul" not in ops["oom"]


def test_its_planes_stand_in_the_trace(answer: Any, logdir: Path) -> None:
    origins = {folder_of(each, logdir): each["origin"] for each in answer["told"]}
    for trace, planes in answer["added"].items():
        folder = Path(trace).relative_to(logdir).parts[0]
        if folder != "off":
            assert f"/oom_forensics:added {origins[folder]}" in planes


def test_what_only_the_error_tells_stands_in_the_recording_around_it_too(
    answer: Any, logdir: Path
) -> None:
    told = {
        Path(trace).relative_to(logdir).parts[0]
        for trace, planes in answer["added"].items()
        if "/oom_forensics:added at the error" in planes
    }
    assert told == {"oom", "profile"}


def test_an_out_of_memory_during_a_profile_is_listed_once(logdir: Path) -> None:
    listed = {Path(run.folder).relative_to(logdir).parts[0] for run in scan({str(logdir): ""})}
    assert listed == {"record", "snapshot", "profile", "profile after", "off"}
    # Without the profile beside it, the flight recorder's run is the one to open.
    assert len(scan({str(logdir / "oom"): ""})) == 1


def test_the_trace_still_opens(answer: Any, command: Command) -> None:
    for trace in answer["added"]:
        info = command("info", Path(trace))
        assert info.returncode == 0, info.stderr


def test_a_provider_that_fails_is_noted_and_the_job_goes_on(
    answer: Any, done: subprocess.CompletedProcess[str]
) -> None:
    assert "went on" in done.stderr
    assert len(answer["failures"]) == 5
    assert all("ValueError" in failure for failure in answer["failures"])


def test_switched_off_nobody_is_asked(answer: Any, logdir: Path) -> None:
    assert next(logdir.glob("off/plugins/profile/*/*.xplane.pb"))
    assert not [each for each in answer["told"] if "/off/" in each["trace"]]
