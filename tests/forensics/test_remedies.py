"""The verdict names why each demo job died, and its remedy makes the job run.

The jobs are those of `tools/demo`: stock TensorFlow, really out of memory.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from recordings.jobs import recorded_demo

Command = Callable[..., subprocess.CompletedProcess[str]]
Dataset = Callable[..., Any]
SameWords = Callable[..., None]


class Job(NamedTuple):
    """A demo job, what is to be said of it, and the option that applies the remedy."""

    name: str
    verdict: str
    remedy: str
    # Makes the option of the job out of the remedy as it was named.
    option: Callable[[dict[str, Any]], list[str]]
    # The line that makes what is to be let go, and the list that keeps it.
    told: tuple[str, ...] = ()
    # The same change as flags of `what-if`, made of the remedy.
    what_if: Callable[[dict[str, Any]], list[str]] | None = None


def the_batch_size(remedy: dict[str, Any]) -> list[str]:
    """The batch size that the remedy names."""
    name, size = remedy["code"].split("=")
    assert name == "batch_size"
    return ["--batch-size", size.strip()]


JOBS = [
    Job(
        "fragmentation",
        "FRAGMENTATION",
        "release_pins",
        lambda _: ["--keep-on-host"],
        (
            r"made at fragmentation\.py:\d+ in load_batch: weights = tf\.random\.uniform\(",
            r"kept by list 'kept_weights' in train \(fragmentation\.py:\d+\) \(\d+ items\)",
        ),
        what_if=lambda _: ["--without=RandomUniform"],
    ),
    Job(
        "leak",
        "LEAK_LIKE",
        "release_leak",
        lambda _: ["--release"],
        (
            r"made at leak\.py:\d+ in train: tf\.keras\.layers\.Dense\(HIDDEN, ",
            r"kept by list 'history' in train \(leak\.py:\d+\) \(\d+ items\)",
        ),
    ),
    Job(
        "capacity",
        "CAPACITY",
        "smaller_batch",
        the_batch_size,
        what_if=lambda remedy: [f"--batch-scale={int(the_batch_size(remedy)[1]) / 512}"],
    ),
    Job(
        "float64",
        "CAPACITY",
        "float32",
        lambda _: ["--dtype", "float32"],
        what_if=lambda _: ["--dtype=float32"],
    ),
]


def would_fit(command: Command, logdir: Path, *flags: str) -> bool:
    """Whether `what-if` says that the recorded requests find a place under the flags."""
    asked = command("what-if", logdir, "--format=json", *flags)
    assert asked.returncode == 0, asked.stderr
    fits: bool = json.loads(asked.stdout)["fits"]
    return fits


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_named_remedy_makes_the_job_run(
    job: Job, command: Command, dataset: Dataset, same_words: SameWords
) -> None:
    """The verdict is right, and its remedy is enough in real TensorFlow."""
    died, process = recorded_demo(job.name)
    same_words(process.stderr)

    oom = dataset(died, "oom_window")["ooms"][0]
    assert oom["verdict"]["kind"] == job.verdict
    named = {remedy["kind"]: remedy for remedy in oom["remedies"]}
    assert job.remedy in named
    remedy = named[job.remedy]
    # What comes after the request is known where such a step was completed before.
    assert remedy["sufficiency"] in ("ENOUGH_ALONE", "REQUEST_FITS"), remedy["proof"]

    # As a user asks: of the logdir, whose newest run is the profile's.
    opening = command("report", died).stdout.splitlines()
    assert len(opening) <= 15
    assert opening[0].startswith("Out of memory: ")
    assert any(remedy["title"] in line for line in opening), opening
    assert any(remedy["code"] in line for line in opening), opening
    report = command("report", died, "--full")
    assert report.stdout.splitlines()[:2] == opening[:2]
    assert remedy["title"] in report.stdout
    for told in job.told:
        assert re.search(told, report.stdout), f"{told} is not told"

    # What the job is foretold to do with that change, it does.
    if job.what_if is not None:
        assert not would_fit(command, died)
        assert would_fit(command, died, *job.what_if(remedy))
    lived = recorded_demo(job.name, *job.option(remedy), exit_code=0).logdir
    healthy = command("report", lived, "--full")
    assert "No OOM is recorded in this run." in healthy.stdout
    assert "Who held the memory of bfc_cpu_allocator_for_gpu#0 at its peak" in healthy.stdout
    if job.name == "leak":
        assert "Possible leaks" in report.stdout
        assert "Possible leaks" not in healthy.stdout
