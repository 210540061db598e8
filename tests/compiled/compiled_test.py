"""A Keras model that XLA compiled, run out of memory with no import of ours: its story."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR

JOBS = Path(__file__).parents[1] / "jobs"
RunJob = Callable[..., Path]


@pytest.fixture(scope="module")
def run_job(record: Any, same_words: Any) -> RunJob:
    """Runs a job out of memory; the run that the flight recorder left."""

    def run(job: str, **environment: str) -> Path:
        # TensorFlow itself may crash after an out-of-memory inside XLA.
        script = JOBS / f"{job}.py"
        logdir, died = record(script, exit_code=None, OOM_FORENSICS_LOGDIR=LOGDIR, **environment)
        same_words(died.stderr)
        found: list[Path] = sorted(logdir.glob("plugins/profile/*_oom*"))
        assert found
        return found[0]

    return run


@pytest.fixture(scope="module")
def run(run_job: RunJob) -> Path:
    """A Keras model whose block is too large."""
    return run_job("compiled_fit")


@pytest.fixture(scope="module")
def lengths(run_job: RunJob) -> Path:
    """A function that was compiled for many shapes, in a pool that lies in pieces."""
    return run_job("compiled_lengths", TF_CPU_BFC_MEM_LIMIT_IN_MB="256")


def remedies_of(run: Path, dataset: Any) -> dict[str, Any]:
    oom = dataset(run, "oom_window")["ooms"][0]
    return {remedy["kind"]: remedy for remedy in oom["remedies"]}


def test_the_report_names_the_step_and_the_layers_that_need_the_block(
    run: Path, command: Any
) -> None:
    told = command("report", run, "--full")
    assert told.returncode == 0, told.stderr
    assert "compiled step `one_step_on_data` (XLA), its temporary block" in told.stdout
    assert "are activations of" in told.stdout
    assert "held for the backward pass" in told.stdout
    # Who asked; tensors of NumPy may be among those who hold.
    assert "outside of any op" not in told.stdout.split("Who holds most")[0]


def test_what_lies_in_the_block_adds_up_to_it(run: Path, dataset: Any) -> None:
    oom = dataset(run, "oom_window")["ooms"][0]
    block = oom["block"]
    live, unused = int(block["liveBytes"]), int(block.get("unusedBytes", 0))
    assert live + unused == int(oom["request"]["requestedBytes"])
    assert sum(int(share["bytes"]) for share in block["byScope"]) == live
    assert int(block["namedBytes"]) >= 0.99 * live
    assert oom["request"]["compiled"]["match"] == "MATCH_RECORDED"


def test_the_modules_tell_who_was_refused(run: Path, dataset: Any) -> None:
    answer = dataset(run, "compiled_modules")
    step = answer["modules"][0]
    assert step["function"] == "one_step_on_data"
    assert step["refusedCount"] == "1"
    detail = answer["detail"]
    assert detail["module"]["name"] == step["name"]
    peak = max(int(column["liveMaxBytes"]) for column in detail["columns"])
    assert peak == int(detail["allocation"]["peakLiveBytes"])


def test_the_whole_step_needs_at_least_what_xla_planned_for_it(run: Path, dataset: Any) -> None:
    (forecast, *_) = dataset(run, "forecast")["forecasts"]
    oom = dataset(run, "oom_window")["ooms"][0]
    request = int(oom["request"]["requestedBytes"])
    assert int(forecast["need"]["lowBytes"]) >= request
    for remedy in oom["remedies"]:
        if remedy["kind"] == "larger_limit" and remedy["sufficiency"] == "ENOUGH_ALONE":
            assert int(remedy["values"]["limitBytes"]) > request


def test_a_smaller_batch_is_found_in_the_shapes_of_the_buffers(run: Path, dataset: Any) -> None:
    (oom, *_) = dataset(run, "oom_window")["ooms"]
    smaller = [each for each in oom["remedies"] if each["kind"] == "smaller_batch"]
    assert smaller
    assert smaller[0]["values"]["batchSizeBefore"] == "8192"


def test_a_block_whose_pieces_would_fit_need_not_be_compiled(lengths: Path, dataset: Any) -> None:
    remedy = remedies_of(lengths, dataset)["jit_compile_off"]
    assert remedy["sufficiency"] == "UNCERTAIN"
    assert "one by one, though the block did not fit" in remedy["proof"]
    assert "train_step" in remedy["code"]


def test_retracing_is_told_by_the_shapes_that_differ(
    lengths: Path, run: Path, dataset: Any
) -> None:
    remedy = remedies_of(lengths, dataset)["compile_once"]
    assert remedy["title"] == "Let `train_step` see the same shapes in every call."
    assert "It was compiled 5 times" in remedy["detail"]
    assert "int32[16,128]" in remedy["detail"]
    assert "compile_once" not in remedies_of(run, dataset)


def test_the_batch_of_a_compiled_step_is_that_of_an_argument(lengths: Path, dataset: Any) -> None:
    """Though the lengths are what varied, and XLA merged both into one dimension."""
    values = remedies_of(lengths, dataset)["smaller_batch"]["values"]
    assert values["batchSizeBefore"] == "16"


def test_a_pool_in_pieces_is_not_called_too_small(lengths: Path, dataset: Any) -> None:
    verdict = dataset(lengths, "oom_window")["ooms"][0]["verdict"]
    assert verdict["kind"] == "GROWTH_REGIONS"
    assert "are activations of" in verdict["sentence"]
