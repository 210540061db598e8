"""An out-of-memory leaves its story behind, whoever runs out of it, and only its story."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Dataset = Callable[..., Any]
SameWords = Callable[..., None]
HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"


def runs(logdir: Path) -> list[Path]:
    return sorted(logdir.glob("plugins/profile/*_oom*"))


def test_fit_under_the_tensorboard_callback_leaves_the_story_in_its_logdir(
    run_python: RunPython, dataset: Dataset, same_words: SameWords, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "oom_in_fit.py", tmp_path)
    assert done.returncode == 0, done.stderr
    same_words(done.stderr)

    (run,) = runs(tmp_path)
    assert len(list(run.iterdir())) == 1, "the trace alone"
    (oom,) = dataset(run, "oom_window")["ooms"]
    request = oom["request"]
    assert request["opName"].endswith(("Relu", "MatMul", "BiasAdd", "mul", "Mul", "add"))
    assert request["requestedBytes"] == str(10_000 * 2048 * 4)
    assert request["shape"] == ["10000", "2048"]
    assert request["dtype"] == "float32"
    assert request["mode"] == "GRAPH"
    assert oom["verdict"]["kind"] in ("CAPACITY", "FRAGMENTATION", "GROWTH_REGIONS")
    assert oom["limitBytes"] == str(256 << 20)
    assert oom["dumpCheck"]["equal"]

    # The same words on stderr and on the error that the user sees.
    (asked,) = [line for line in done.stderr.splitlines() if "did not get it" in line]
    said = asked.removeprefix("OOM Forensics: ")
    assert request["opName"] in said
    assert "in step 0" in said
    assert said in done.stdout
    assert str(run) in done.stdout


def test_last_report_opens_the_run_of_the_last_out_of_memory(
    run_python: RunPython, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "last_report.py", OOM_FORENSICS_LOGDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (run,) = runs(tmp_path)
    assert done.stdout.splitlines() == ["None", str(run), "CAPACITY"]


def test_repeated_failures_are_counted_not_reported(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python(
        SCRIPTS / "eager_oom.py",
        "2",
        OOM_FORENSICS_LOGDIR=str(tmp_path),
        OOM_FORENSICS_MAX_REPORTS="1",
    )
    assert done.stdout.splitlines()[-1] == "went on 3.0"
    assert len(runs(tmp_path)) == 1
    assert "only counted" in done.stderr


def test_a_logdir_that_cannot_be_written_is_one_warning(
    run_python: RunPython, tmp_path: Path
) -> None:
    blocked = tmp_path / "a_file"
    blocked.write_text("")
    done = run_python(SCRIPTS / "eager_oom.py", "1", OOM_FORENSICS_LOGDIR=str(blocked / "logs"))
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "went on 3.0"
    assert done.stderr.count("no report was written") == 1
    assert "Not a directory" in done.stderr


def test_a_full_disk_leaves_nothing_half_written(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python(
        SCRIPTS / "eager_oom.py",
        "1",
        "--file-size-limit",
        OOM_FORENSICS_LOGDIR=str(tmp_path),
    )
    assert done.stdout.splitlines()[-1] == "went on 3.0"
    assert done.stderr.count("no report was written") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("value", ["much", "-1"])
def test_a_wrong_setting_is_one_warning(run_python: RunPython, value: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import tensorflow as tf; print(float(tf.reduce_sum(tf.ones([3]))))")
    done = run_python(script, OOM_FORENSICS_MIN_BYTES=value)
    assert done.stdout.strip() == "3.0"
    assert done.stderr.count("OOM_FORENSICS_MIN_BYTES must be") == 1
