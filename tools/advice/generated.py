"""Jobs that nobody chose: put together by chance from the parts of `tests/jobs/composed`.

Each has a limit drawn between what it holds before its first step and what it needs, both
measured. So nothing that is true of it is written down, and nothing can be mended against it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from advice.corpus import Job
from advice.trial import Change, Trials

_MIB = 1 << 20
# Room in which every one of them runs.
_AMPLE_MIB = 4096
# Less than that between the two is no room to draw from.
_LEAST_MIB = 4

_MODELS = ("dense", "image", "lstm", "gru", "series", "attention", "tokens")
# How often each is taken, as people write them.
_LOOPS = {"fit": 6, "step": 4, "eager": 3, "batches": 2, "predict": 2, "evaluate": 1}
_MODES = {"graph": 7, "compiled": 2, "eager": 1, "mirrored": 1}
_DATA = {"arrays": 3, "pipeline": 4, "ahead": 3, "device": 2}
_KEEP = {"nothing": 10, "outputs": 1, "last": 1}
# What no list of the program's is to blame for.
_OF_THE_STEP = ["CAPACITY", "GROWTH_REGIONS", "FRAGMENTATION", "TRANSIENT_PEAK"]


def generated_jobs(seed: int, count: int, trials: Trials) -> Iterator[Job]:
    """Yields `count` jobs that die, always the same for a seed."""
    chance = random.Random(seed)
    while count:
        job = _with_limit(_composed(chance), chance.random(), trials)
        if job is not None:
            count -= 1
            yield job


def _taken(chance: random.Random, weights: dict[str, int]) -> str:
    return chance.choices(list(weights), list(weights.values()))[0]


def _composed(chance: random.Random) -> Job:
    """A job without a limit yet."""
    loop = _taken(chance, _LOOPS)
    by_keras = loop in ("fit", "batches", "predict", "evaluate")
    mode = _taken(chance, _MODES)
    if not by_keras:
        mode = "compiled" if mode == "compiled" and loop == "step" else "graph"
    model = chance.choice(_MODELS)
    if mode == "compiled" and model in ("lstm", "gru"):
        mode = "graph"  # XLA on a CPU takes minutes for their loops.
    keep = "nothing" if loop in ("fit", "predict", "evaluate") else _taken(chance, _KEEP)
    parts = {
        "model": model,
        "data": _taken(chance, _DATA),
        "loop": loop,
        "mode": mode,
        "keep": keep,
        "optimizer": chance.choice(("adam", "adam", "sgd", "rmsprop")),
        "batch-size": chance.choice((24, 48, 96, 100, 128, 200, 256)),
        "width": chance.choice((48, 64, 96, 128, 192)) * (4 if model == "dense" else 1),
        "depth": chance.randint(2, 3 if model == "image" else 4),
        "length": chance.choice((16, 24, 32, 40)),
    }
    return Job(
        "-".join(str(value) for value in parts.values()),
        0,
        ["LEAK_LIKE"] if keep == "outputs" else _OF_THE_STEP,
        "a list keeps outputs" if keep == "outputs" else "the step needs more than there is",
        {
            "smaller_batch": "--batch-size={batchSize}",
            "release_leak": "--keep=nothing",
            "release_collection": "--keep=nothing",
        },
        arguments=tuple(f"--{name}={value}" for name, value in parts.items()),
        source="composed/job",
    )


def _with_limit(job: Job, drawn: float, trials: Trials) -> Job | None:
    """The job with its limit; None: it needs hardly more than it begins with, or does not run."""
    begun = trials.run(job, Change(_AMPLE_MIB, ("--only-begin",)))
    whole = trials.run(job, Change(_AMPLE_MIB))
    if not (begun.to_the_end and whole.to_the_end):
        return None
    low_mib, high_mib = begun.peak_bytes // _MIB + 1, whole.peak_bytes // _MIB
    if high_mib - low_mib < _LEAST_MIB:
        return None
    dying = job._replace(limit_mib=low_mib + round(drawn * (high_mib - low_mib)))
    # What was measured with room may just fit.
    return None if trials.run(dying, Change(dying.limit_mib)).to_the_end else dying
