"""The collector on the oldest TensorFlow that is supported; the other tests run on the newest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
PLUGINS = "tensorflow-plugins"
VERSION = (ROOT / "tools/tensorflow_versions.txt").read_text().split()[-1]

RunOldest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run_oldest(bfc_environment: dict[str, str]) -> RunOldest:
    """Runs a script on that TensorFlow, which tools/setup has installed."""
    environment = ROOT / f".cache/tensorflow-{VERSION}"
    (site_packages,) = environment.glob("lib/python*/site-packages")
    installed = Path(sysconfig.get_path("purelib")) / PLUGINS
    shutil.rmtree(site_packages / PLUGINS, ignore_errors=True)
    shutil.copytree(installed, site_packages / PLUGINS)

    def run(script: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [environment / "bin/python", script, *arguments],
            env={**os.environ, **bfc_environment, "PYTHONPATH": str(ROOT / "plugin")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def test_the_oldest_supported_tensorflow_is_recognised_wholly(run_oldest: RunOldest) -> None:
    done = run_oldest(ROOT / "tools/versions/try_one.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"TensorFlow {VERSION}: " in done.stdout


def test_a_loop_has_steps_where_nothing_numbers_them(
    run_oldest: RunOldest, dataset: Any, tmp_path: Path
) -> None:
    done = run_oldest(SCRIPTS / "loop_that_keeps.py", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = dataset(tmp_path, "allocations", "--range", "--limit=10000")["allocations"]
    assert {row["stepId"] for row in rows} == {"0"}
    leaks = dataset(tmp_path, "leaks")["leaks"]
    (kept,) = (leak for leak in leaks if leak["kind"] == "growth")
    assert kept["bytesPerStep"] == 256 * 64 * 4
    assert "per round" in kept["sentence"]
    gradients = {row["role"] for row in rows if row["opName"] == "ReluGrad"}
    assert gradients == {"ROLE_GRADIENT"}
