"""A job is run once for all who look at it, and again when something of it has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recordings.dependencies import Job, key_of
from recordings.recording import LOGDIR, Recording, doubt, forget_doubted, recorded

# Each run adds a line beside the script: what is kept does not say how often it was made.
SCRIPT = """
import pathlib, sys
with (pathlib.Path(__file__).parent / "runs").open("a") as runs:
    runs.write("run\\n")
(pathlib.Path(sys.argv[1]) / "left").write_text("a trace")
print("told", file=sys.stderr)
"""
Look = Callable[..., Recording]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "jobs/job.py"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def look(script: Path, tmp_path: Path) -> Look:
    def look(exit_code: int | None = 0, says: str = "told", **environment: str) -> Recording:
        return recorded(
            [sys.executable, script, LOGDIR],
            environment,
            [script.parent],
            exit_code=exit_code,
            says=says,
            kept=tmp_path / "kept",
        )

    return look


def run_count(script: Path) -> int:
    runs = script.with_name("runs")
    return len(runs.read_text().splitlines()) if runs.exists() else 0


def test_who_comes_later_gets_what_the_first_one_got(look: Look, script: Path) -> None:
    first, second = look(), look()
    assert first.logdir == second.logdir
    assert (second.logdir / "left").read_text() == "a trace"
    assert second.done.stderr == "told\n"
    assert second.done.args == first.done.args
    assert run_count(script) == 1


def test_of_several_who_ask_at_once_one_runs_it(look: Look, script: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        logdirs = {each.result().logdir for each in [threads.submit(look) for _ in range(4)]}
    assert len(logdirs) == 1
    assert run_count(script) == 1


def test_another_script_or_one_that_it_imports_is_recorded_anew(look: Look, script: Path) -> None:
    look()
    script.write_text(SCRIPT + "# changed\n")
    look()
    script.with_name("imported.py").touch()
    look()
    assert run_count(script) == 3


def test_another_limit_is_recorded_anew(
    look: Look, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(TF_CPU_BFC_MEM_LIMIT_IN_MB="256")
    look(TF_CPU_BFC_MEM_LIMIT_IN_MB="512")
    monkeypatch.setenv("TF_CPU_ALLOCATOR_USE_BFC", "1")
    look(TF_CPU_BFC_MEM_LIMIT_IN_MB="512")
    assert run_count(script) == 3


@pytest.mark.parametrize(
    "changed",
    [
        "tensorflow-plugins/oom_forensics/liboom_forensics_collector.so",
        "oom_forensics/bin/oom-forensics",
        "oom_forensics/in_training/activation.py",
        "tensorflow-2.99.0.dist-info/METADATA",
    ],
)
def test_another_collector_converter_package_or_tensorflow_is_recorded_anew(
    tmp_path: Path, script: Path, changed: str
) -> None:
    def key(name: str) -> str:
        # As a process of its own would ask: what is installed does not change under a test.
        asked = "import sys; from recordings.dependencies import Job, key_of; from pathlib import "
        asked += "Path; print(key_of(Job((sys.argv[1],), {}, (Path(sys.argv[2]),))))"
        return subprocess.run(
            [sys.executable, "-c", asked, tmp_path / name / "bin/python", script],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    packages = tmp_path / "environment/lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    before = key("environment")
    assert key("environment") == before
    (packages / changed).parent.mkdir(parents=True)
    (packages / changed).write_text("another")
    assert key("environment") != before


def test_what_only_shows_recordings_makes_no_other_one(tmp_path: Path, script: Path) -> None:
    package = tmp_path / "oom_forensics"
    (package / "static").mkdir(parents=True)
    job = Job((sys.executable,), {"PYTHONPATH": str(tmp_path)}, (script,))
    before = key_of(job)
    (package / "static/converter.wasm").touch()
    assert key_of(job) == before


def test_what_ends_otherwise_is_not_kept(look: Look, script: Path) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="told"):
            look(exit_code=3)
        with pytest.raises(RuntimeError, match="told"):
            look(says="something else")
    assert run_count(script) == 4
    look()
    assert run_count(script) == 5


def test_what_was_left_half_is_recorded_anew(look: Look, script: Path) -> None:
    folder = look().logdir.parent
    (folder / "ended.json").unlink()
    (folder / "logdir/half").touch()
    assert not (look().logdir / "half").exists()
    assert run_count(script) == 2


def test_what_a_failed_test_looked_at_is_recorded_anew(
    look: Look, script: Path, tmp_path: Path
) -> None:
    look()
    forget_doubted(tmp_path / "kept")
    look()
    assert run_count(script) == 1
    doubt("tools/recordings/recording_test.py")
    forget_doubted(tmp_path / "kept")
    look()
    assert run_count(script) == 2
