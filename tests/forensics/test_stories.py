"""Why each job of stories/ ran out of memory, as it is named: by what holds the memory.

Real jobs, really out of memory. A number of tensors or an op's name alone would tell another
story of each of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from recordings.recording import LOGDIR, recorded

FOLDER = Path(__file__).with_name("stories")


class Story(NamedTuple):
    """A job, and what is true of it."""

    job: str
    limit_mib: int
    verdict: str
    # Regular expressions that the verdict's sentence matches.
    says: tuple[str, ...] = ()
    # Causes that would be false.
    false_causes: tuple[str, ...] = ()
    # Remedies by kind, and the grades that are honest; none: it must not be named.
    remedies: dict[str, tuple[str, ...]] = {}  # noqa: RUF012


HOPE = ("ENOUGH_ALONE", "REQUEST_FITS")
NOT_SURE = ("UNCERTAIN",)

STORIES = [
    # Batches of many lengths are one leak: one list keeps them.
    Story(
        "ragged_list",
        64,
        "LEAK_LIKE",
        (r"\d+ outputs of Relu are kept", r"kept by list 'kept' in __main__"),
        ("older_models",),
        {"release_leak": HOPE, "larger_limit": ("NOT_ENOUGH",)},
    ),
    # A teacher that the program has by a name of its own is meant to be there.
    Story(
        "teacher_student",
        64,
        "CAPACITY",
        (),
        ("older_models", "leak"),
        {"larger_limit": HOPE, "smaller_batch": HOPE, "release_models": ()},
    ),
    # Weights, and what 24 equal layers keep for the backward pass, are no leak and no loop.
    Story("eager_tape", 96, "CAPACITY", (), ("leak", "taped_rounds"), {"release_leak": ()}),
    # A list that the step may empty at its end.
    Story(
        "micro_gradients",
        40,
        "CAPACITY",
        (r"kept by list 'gradients' in __main__ \(\d+ items\), made at micro_gradients\.py:12",),
        ("leak",),
        {"larger_limit": NOT_SURE},
    ),
    # A bank that was filled before training began, by a pipeline that shuffles 100 numbers.
    Story(
        "memory_bank",
        96,
        "CAPACITY",
        (r"kept by list 'bank' in __main__ \(100 items\)", "no longer grows"),
        ("leak", "pipeline_buffer"),
        {"larger_limit": HOPE},
    ),
    # A deque says itself where it ends.
    Story(
        "replay_deque",
        32,
        "CAPACITY",
        (r"kept by deque 'replay' .* of at most 800 items", "It keeps at most 800 items, 5\\d"),
        ("leak",),
        {"larger_limit": NOT_SURE},
    ),
    Story("numpy_variables", 60, "CAPACITY", (), ("host_data",), {"batches_from_host": ()}),
    Story("time_major", 200, "CAPACITY", (), (), {"smaller_batch": ()}),
    Story("wide_as_batch", 96, "CAPACITY", (), (), {"smaller_batch": HOPE}),
    Story("graph_edges", 40, "CAPACITY", (), (), {"smaller_batch": ()}),
    # Keras keeps what was trained: no list of the program's does.
    Story(
        "search_dropped",
        110,
        "RETAINED",
        (r"Variables of the same shapes were made \d+ times",),
        ("leak",),
        {"release_models": HOPE, "release_leak": ()},
    ),
    Story(
        "optimizers",
        96,
        "RETAINED",
        (r"kept by dict 'results' in __main__ \(\d+ items\)",),
        (),
        {"release_models": HOPE, "larger_limit": ("NOT_ENOUGH",)},
    ),
    Story(
        "kv_cache",
        32,
        "LEAK_LIKE",
        (r"The outputs of ConcatV2 at kv_cache\.py:12 grow by 16\.0 KiB a time", "list 'cache'"),
        ("older_models",),
        {"preallocate": NOT_SURE, "larger_limit": NOT_SURE},
    ),
    # A gradient that an optimizer makes dense is one of an embedding.
    Story("target_network", 100, "CAPACITY", (), ("older_models",), {"larger_limit": HOPE}),
    # What a comprehension has collected so far is as long as it says in the end.
    Story(
        "stacked_predictions",
        64,
        "CAPACITY",
        (r"kept by list that no variable holds yet \(\d+ items\)",),
        ("leak",),
        {"larger_limit": NOT_SURE, "smaller_batch": NOT_SURE},
    ),
    Story(
        "wrong_shape",
        64,
        "CAPACITY",
        (
            r"This shape looks wrong: \[40000,40000\] at wrong_shape\.py:10 is 5\.96 GiB",
            r"\[40000\] beside one of \[40000,1\]",
        ),
        (),
        {"check_shape": NOT_SURE, "larger_limit": (), "smaller_batch": ()},
    ),
]


@pytest.fixture(scope="session")
def died(bfc_environment: dict[str, str]) -> Callable[[str, int], Path]:
    """The folder of a run of a job that ended in an out-of-memory."""

    def run(job: str, limit_mib: int) -> Path:
        script = FOLDER / f"{job}.py"
        environment = {
            **bfc_environment,
            "TF_CPU_BFC_MEM_LIMIT_IN_MB": str(limit_mib),
            "OOM_FORENSICS_LOGDIR": LOGDIR,
        }
        return recorded([sys.executable, script], environment, [script], exit_code=1).logdir

    return run


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.job)
def test_what_holds_the_memory_is_named(
    story: Story, died: Callable[[str, int], Path], dataset: Callable[..., Any]
) -> None:
    oom = dataset(died(story.job, story.limit_mib), "oom_window")["ooms"][0]
    verdict = oom["verdict"]
    assert verdict["kind"] == story.verdict, verdict["sentence"]
    for said in story.says:
        assert re.search(said, verdict["sentence"]), verdict["sentence"]
    causes = {evidence["name"] for evidence in verdict["evidence"]}
    assert causes.isdisjoint(story.false_causes)
    assert "gradient made dense" not in verdict["sentence"]
    remedies = {remedy["kind"]: remedy for remedy in oom["remedies"]}
    for kind, grades in story.remedies.items():
        if grades:
            assert remedies[kind]["sufficiency"] in grades, remedies[kind]["proof"]
        else:
            assert kind not in remedies


def test_an_op_of_two_functions_is_of_the_call_that_was_running(
    died: Callable[[str, int], Path], command: Any
) -> None:
    report = command("report", "--full", died("evaluate_after_fit", 48)).stdout
    assert "called at evaluate_after_fit.py:14: model.evaluate" in report


def test_a_promise_says_what_it_covers(
    died: Callable[[str, int], Path], dataset: Callable[..., Any]
) -> None:
    oom = dataset(died("evaluate_after_fit", 48), "oom_window")["ooms"][0]
    promises = [each for each in oom["remedies"] if each["sufficiency"] == "ENOUGH_ALONE"]
    assert promises
    for promise in promises:
        assert "This covers the step that failed" in promise["proof"]
