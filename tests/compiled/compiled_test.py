"""A Keras model that XLA compiled, run out of memory with no import of ours: its story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

JOB = Path(__file__).parents[1] / "jobs" / "compiled_fit.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, run_python: Any) -> Path:
    """The run that the flight recorder left."""
    logdir = tmp_path_factory.mktemp("compiled")
    # TensorFlow itself may crash after an out-of-memory inside XLA.
    run_python(JOB, OOM_FORENSICS_LOGDIR=str(logdir))
    found = sorted(logdir.glob("plugins/profile/*_oom*"))
    assert found
    return found[0]


def test_the_report_names_the_step_and_the_layers_that_need_the_block(
    run: Path, command: Any
) -> None:
    told = command("report", run)
    assert told.returncode == 0, told.stderr
    assert "compiled step `one_step_on_data` (XLA), its temporary block" in told.stdout
    assert "are activations of" in told.stdout
    assert "held for the backward pass" in told.stdout
    assert "outside of any op" not in told.stdout.split("Who held the memory")[0]


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


def test_a_smaller_batch_is_found_in_the_shapes_of_the_buffers(run: Path, dataset: Any) -> None:
    (oom, *_) = dataset(run, "oom_window")["ooms"]
    smaller = [each for each in oom["remedies"] if each["kind"] == "smaller_batch"]
    assert smaller
    assert smaller[0]["values"]["batchSizeBefore"] == "8192"
