"""The collector on the oldest TensorFlow that is supported; the other tests run on the newest."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from versions import oldest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "scripts"

RunOldest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run_oldest(bfc_environment: dict[str, str]) -> RunOldest:
    """Runs a script on that TensorFlow."""
    python = oldest.python_with_collector()

    def run(script: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, script, *arguments],
            env={**os.environ, **bfc_environment, "PYTHONPATH": str(ROOT / "plugin")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def test_the_oldest_supported_tensorflow_is_recognized_wholly(run_oldest: RunOldest) -> None:
    done = run_oldest(ROOT / "tools/versions/try_one.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"TensorFlow {oldest.VERSION}: " in done.stdout


def test_a_loop_has_steps_where_nothing_numbers_them(
    run_oldest: RunOldest, dataset: Any, tmp_path: Path
) -> None:
    done = run_oldest(SCRIPTS / "loop_that_keeps.py", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = dataset(tmp_path, "allocations", "--range", "--rows=10000")["allocations"]
    assert {row["stepId"] for row in rows} == {"0"}
    leaks = dataset(tmp_path, "leaks")["leaks"]
    (kept,) = (leak for leak in leaks if leak["kind"] == "growth")
    assert kept["bytesPerStep"] == 256 * 64 * 4
    assert "per round" in kept["sentence"]
    gradients = {row["role"] for row in rows if row["opName"] == "ReluGrad"}
    assert gradients == {"ROLE_GRADIENT"}
