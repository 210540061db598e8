"""A step is forecast as it then really is; after an out-of-memory, as it would have been."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPTS = Path(__file__).parent / "scripts"
OUT_OF_MEMORY = 3
ROOM = {"TF_CPU_BFC_MEM_LIMIT_IN_MB": "3000"}
# What kernels take beside their outputs is not forecast, and chunks are larger than requests.
TOLERANCE = 0.25


@pytest.mark.parametrize(
    ("model", "batch"),
    [("mlp", 2048), ("attention", 8), ("lstm", 64), ("embedding", 1024), ("cnn", 64)],
)
def test_the_forecast_before_a_step_is_what_the_step_takes(
    run_python: RunPython, tmp_path: Path, model: str, batch: int
) -> None:
    done = run_python(
        SCRIPTS / "forecast_then_measure.py", model, str(batch), tmp_path, timeout=600, **ROOM
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["unknown"] == 0
    assert answer["forecast_low"] <= (1 + TOLERANCE) * answer["measured"][-1], answer
    assert answer["forecast_high"] >= (1 - TOLERANCE) * answer["measured"][0], answer


@pytest.fixture(scope="module")
def oom_run(run_python: RunPython, tmp_path_factory: pytest.TempPathFactory) -> Path:
    logdir = tmp_path_factory.mktemp("oom")
    done = run_python(SCRIPTS / "fit.py", "attention", "64", logdir, timeout=600)
    assert done.returncode == OUT_OF_MEMORY, done.stderr
    return logdir


@pytest.fixture(scope="module")
def forecast(oom_run: Path, command: Command) -> Any:
    done = command("forecast", oom_run, "--format=json")
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)["forecasts"]
    return answer


def test_the_step_that_did_not_end_needs_more_than_there_was(forecast: Any) -> None:
    assert forecast["origin"] == "oom"
    assert int(forecast["need"]["lowBytes"]) > int(forecast["limitBytes"])
    assert forecast["need"]["fit"] == "FORECAST_DOES_NOT_FIT"
    assert forecast["need"]["batch"] == "64"
    assert "unknownOps" not in forecast
    assert any("attention" in layer for layer in forecast["layers"])


def test_the_report_says_so(oom_run: Path, command: Command) -> None:
    report = command("report", oom_run).stdout
    assert "Had the step gone on:" in report
    assert "The whole step needs " in report


def test_the_batch_that_it_names_runs_to_its_end(
    run_python: RunPython, forecast: Any, tmp_path: Path
) -> None:
    batch = forecast["largestBatch"]
    assert 0 < int(batch) < 64
    done = run_python(SCRIPTS / "fit.py", "attention", batch, tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr


def test_switched_off_there_is_none(
    run_python: RunPython, tmp_path: Path, command: Command
) -> None:
    done = run_python(
        SCRIPTS / "fit.py", "mlp", "65536", tmp_path, timeout=600, OOM_FORENSICS_FORECAST="0"
    )
    assert done.returncode == OUT_OF_MEMORY, done.stderr
    answer = json.loads(command("forecast", tmp_path, "--format=json").stdout)
    assert not [each for each in answer.get("forecasts", []) if each["origin"] == "oom"]


def test_a_rehearsal_tells_what_a_smaller_device_had_made_of_it(
    command: Command, tmp_path: Path
) -> None:
    import sys

    done = command(
        "rehearse", "--limit=64MiB", "--steps=2", f"--logdir={tmp_path}", "--format=json", "--",
        sys.executable, SCRIPTS / "fit.py", "mlp", "4096", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout[done.stdout.index("{") :])["forecasts"]
    assert answer["origin"] == "recorded"
    assert answer["need"]["fit"] == "FORECAST_DOES_NOT_FIT"
    assert 0 < int(answer["largestBatch"]) < 4096
