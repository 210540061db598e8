"""An out-of-memory leaves its story behind, whoever runs out of it, and only its story."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
SameWords = Callable[..., None]
HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
SCHEMA = json.loads((HERE.parents[1] / "proto/oom_report.schema.json").read_text())


def runs(logdir: Path) -> list[Path]:
    return sorted(logdir.glob("plugins/profile/*_oom*"))


def report_in(run: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(next(run.glob("*.oom_report.json")).read_text())
    jsonschema.validate(report, SCHEMA)
    return report


def test_fit_under_the_tensorboard_callback_leaves_the_story_in_its_logdir(
    run_python: RunPython, command: Command, same_words: SameWords, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "oom_in_fit.py", tmp_path)
    assert done.returncode == 0, done.stderr
    same_words(done.stderr)

    (run,) = runs(tmp_path)
    report = report_in(run)
    request = report["request"]
    assert request["op_name"].endswith(("Relu", "MatMul", "BiasAdd", "mul", "Mul", "add"))
    assert request["requested_bytes"] == 10_000 * 2048 * 4
    assert request["shape"] == [10_000, 2048]
    assert request["dtype"] == "float32"
    assert request["step"] == 0
    assert request["mode"] == "graph"
    assert report["reason"]["kind"] in ("CAPACITY", "FRAGMENTATION", "GROWTH_REGIONS")
    (pool,) = (a for a in report["allocators"] if a["name"] == request["allocator"])
    assert pool["limit_bytes"] == 256 << 20
    assert pool["in_use_bytes"] + pool["free_bytes"] == pool["reserved_bytes"]
    times = [allocation["time"] for allocation in report["recent_allocations"]]
    assert times == sorted(times)
    assert len(times) > 10

    # The same words on stderr, in the report and on the error that the user sees.
    for line in report["summary"]:
        assert line in done.stderr
        assert line in done.stdout
    assert str(run) in done.stdout

    told = command("report", run)
    assert told.returncode == 0, told.stderr
    assert request["op_name"].split("/")[-1] in told.stdout


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
