"""A step is forecast as it then really is; after an out-of-memory, as it would have been."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, Recording, recorded

Record = Callable[..., Recording]
Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPTS = Path(__file__).parent / "scripts"
OUT_OF_MEMORY = 3
ROOM = {"TF_CPU_BFC_MEM_LIMIT_IN_MB": "3000"}
SMALL = {"TF_CPU_BFC_MEM_LIMIT_IN_MB": "96"}
STEPS = {
    "mlp": 2048, "attention": 8, "lstm": 64, "embedding": 1024, "cnn": 64, "compiled_mlp": 2048,
}  # fmt: skip
# Scratch of some kernels is not forecast, and threads may find an order that is not tried.
TOLERANCE = 0.25


@pytest.fixture(scope="module")
def answers(record: Record) -> dict[str, Any]:
    steps = [word for name, batch in STEPS.items() for word in (name, str(batch))]
    script = SCRIPTS / "forecast_then_measure.py"
    done = record(script, LOGDIR, *steps, timeout_s=900, **ROOM).done
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {answer["model"]: answer for answer in answers}


@pytest.mark.parametrize("model", STEPS)
def test_the_forecast_before_a_step_is_what_the_step_takes(
    answers: dict[str, Any], model: str
) -> None:
    answer = answers[model]
    assert answer["unknown"] == 0
    assert answer["forecast_low"] <= (1 + TOLERANCE) * answer["measured"][-1], answer
    assert answer["forecast_high"] >= (1 - TOLERANCE) * answer["measured"][0], answer


@pytest.mark.parametrize("model", STEPS)
def test_the_callback_warns_of_a_step_that_will_not_fit(
    answers: dict[str, Any], model: str
) -> None:
    (warning,) = (each for each in answers[model]["warnings"] if "OOM Forensics" in each)
    assert "The whole step needs" in warning
    assert "of 1.00 MiB" in warning


@pytest.fixture(scope="module")
def oom_run(record: Record) -> Path:
    fit = ("attention", "64", LOGDIR)
    return record(SCRIPTS / "fit.py", *fit, exit_code=OUT_OF_MEMORY, timeout_s=600, **SMALL).logdir


@pytest.fixture(scope="module")
def forecast(oom_run: Path, command: Command) -> Any:
    done = command("forecast", oom_run, "--format=json")
    assert done.returncode == 0, done.stderr
    forecasts = json.loads(done.stdout)["forecasts"]
    (answer,) = (each for each in forecasts if each["origin"] == "oom")
    return answer


def test_the_step_that_did_not_end_needs_more_than_there_was(forecast: Any) -> None:
    assert int(forecast["need"]["lowBytes"]) > int(forecast["limitBytes"])
    assert forecast["need"]["fit"] == "FORECAST_DOES_NOT_FIT"
    assert forecast["need"]["batch"] == "64"
    assert not forecast["unknownOps"]
    assert any("attention" in layer for layer in forecast["layers"])


def test_the_report_says_so(oom_run: Path, command: Command) -> None:
    report = command("report", oom_run, "--full").stdout
    assert "If the step had gone on:" in report
    assert "The whole step needs " in report


def test_the_batch_that_it_names_runs_to_its_end(record: Record, forecast: Any) -> None:
    batch = forecast["largestBatch"]
    assert 0 < int(batch) < 64
    fit = ("attention", batch, LOGDIR)
    record(SCRIPTS / "fit.py", *fit, exit_code=0, timeout_s=600, **SMALL)


def test_replicas_are_forecast_together_and_the_batch_named_is_that_of_all(
    record: Record, dataset: Callable[..., Any]
) -> None:
    """Two replicas of a MirroredStrategy in one pool; the program says the batch of both."""
    job = Path(__file__).parents[1] / "jobs/composed/job.py"
    mirrored = (
        "--mode=mirrored", "--model=series", "--data=pipeline", "--optimizer=rmsprop",
        "--width=128", "--depth=4",
    )  # fmt: skip
    limit = {"TF_CPU_BFC_MEM_LIMIT_IN_MB": "77"}
    died = record(
        job,
        *mirrored,
        "--batch-size=128",
        exit_code=1,
        timeout_s=600,
        OOM_FORENSICS_LOGDIR=LOGDIR,
        **limit,
    )
    oom = dataset(died.logdir, "oom_window")["ooms"][0]
    (batch,) = (each for each in oom["remedies"] if each["kind"] == "smaller_batch")
    assert batch["sufficiency"] == "ENOUGH_ALONE"
    assert batch["values"]["batchSizeBefore"] == "128"
    assert "for each of the 2 replicas" in batch["title"]
    size = batch["values"]["batchSize"]
    record(job, *mirrored, f"--batch-size={size}", exit_code=0, timeout_s=600, **limit)


def test_a_rehearsal_tells_what_a_smaller_device_had_made_of_it() -> None:
    done = recorded(
        [
            Path(sys.executable).with_name("oom-forensics"),
            *("rehearse", "--limit=64MiB", "--steps=2", f"--logdir={LOGDIR}", "--format=json"),
            *("--", sys.executable, SCRIPTS / "fit.py", "mlp", "4096", LOGDIR),
        ],
        {},
        [SCRIPTS],
    ).done
    (answer,) = json.loads(done.stdout[done.stdout.index("{") :])["forecasts"]
    assert answer["origin"] == "recorded"
    assert answer["need"]["fit"] == "FORECAST_DOES_NOT_FIT"
    assert 0 < int(answer["largestBatch"]) < 4096
