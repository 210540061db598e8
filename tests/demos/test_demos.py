"""Each demo job: the verdict on its out-of-memory, and the remedy applied to the job."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXIT_OUT_OF_MEMORY = 3


def always(*options: str) -> Callable[[str], list[str]]:
    """The job's option for a remedy that has no number in it."""
    return lambda _: list(options)


def number_in(code: str, variable: str) -> str:
    found = re.search(rf"\b{variable}=(\d+)", code)
    assert found, f"no {variable} in {code!r}"
    return found[1]


@dataclass(frozen=True)
class Story:
    job: str
    verdict: str
    remedy: str
    options: Callable[[str], list[str]]
    """The job's options that do what the remedy's code says."""


STORIES = [
    Story("fragmentation", "FRAGMENTATION", "release_pins", always("--keep-on-host")),
    Story("leak", "LEAK_LIKE", "release_leak", always("--release")),
    Story(
        "capacity",
        "CAPACITY",
        "smaller_batch",
        lambda code: ["--batch-size", number_in(code, "batch_size")],
    ),
    Story("float64", "CAPACITY", "float32", always("--dtype=float32")),
]


def run_job(story: Story, logdir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"demos.{story.job}", "--logdir", logdir, *options],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.job)
def test_the_remedy_of_the_report_makes_the_job_run(
    story: Story, tmp_path: Path, command: Any, dataset: Any
) -> None:
    died = run_job(story, tmp_path / "died")
    assert died.returncode == EXIT_OUT_OF_MEMORY, died.stderr
    oom = dataset(tmp_path / "died", "oom_window")["ooms"][0]
    assert oom["verdict"]["kind"] == story.verdict
    (remedy,) = [each for each in oom["remedies"] if each["kind"] == story.remedy]
    assert remedy["sufficiency"] == "ENOUGH_ALONE"
    assert remedy["title"] in command("report", tmp_path / "died").stdout

    lived = run_job(story, tmp_path / "lived", *story.options(remedy["code"]))
    assert lived.returncode == 0, lived.stderr
    assert command("report", tmp_path / "lived", "--fail-on=oom").returncode == 0
