"""What is promised holds: a slice of what `tools/try_advice` does with the whole corpus.

Real jobs, really out of memory, and their remedies applied as they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from advice.corpus import Job, read_corpus
from advice.follow import from_json
from recordings.recording import LOGDIR, Recording

# A loop without marked steps, an eager list of tapes, tensors of a caught error.
SLICE = ("kept_outputs", "kept_tapes", "kept_exception")
SCRIPT = Path(__file__).parent / "scripts/follow_one.py"
TOOLS = Path(__file__).resolve().parents[2] / "tools"
CORPUS = {job.name: job for job in read_corpus()}


@pytest.mark.parametrize("job", [CORPUS[name] for name in SLICE], ids=lambda job: job.name)
def test_the_verdict_is_right_and_promises_hold(job: Job, record: Callable[..., Recording]) -> None:
    followed = record(
        SCRIPT,
        job.name,
        LOGDIR,
        timeout_s=900,
        sources=[TOOLS / "advice", job.script, job.script.with_name("truth.json")],
        PYTHONPATH=str(TOOLS),
    )
    outcome = from_json(followed.done.stdout.splitlines()[-1], CORPUS)
    assert outcome.verdict_is_right, outcome.sentence
    assert not outcome.different_words
    for promise in outcome.promises:
        assert promise.held, promise.title


def test_every_job_says_what_is_true_of_it() -> None:
    scripts = {script.stem for script in CORPUS["lstm"].script.parent.glob("*.py")}
    assert scripts == set(CORPUS)
    assert len(scripts) >= 30
