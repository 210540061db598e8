"""Records many small real runs from the demos, with varied settings.

    python -m fleets.record DIR [--count 300] [--at-a-time 2]

A run needs no process of its own: each process is a "job" of one demo with one limit, trains
again and again with other batch sizes, and leaves a run for each training it records and for
each out-of-memory. Each waits 10 s before TensorFlow gives up, so most trainings are of
sizes that fit. What a job's earlier trainings left in its pool is part of the story.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# demo, and what its trainings are varied by: settings that fit, and one that does not.
_DEMOS: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "capacity": (
        {"examples": [32], "batch_size": [4, 8, 12, 16]},
        {"examples": 2048, "batch_size": 2048},
    ),
    "leak": (
        {"steps": [4, 8], "batch_size": [32, 64, 96], "release": [True]},
        {"steps": 4000, "batch_size": 1024, "release": False},
    ),
    "fragmentation": (
        {
            "batches": [4, 8],
            "small_batch_size": [4, 8],
            "large_batches": [1],
            "batch_size": [16, 24],
            "keep_on_host": [True],
        },
        {
            "batches": 60,
            "small_batch_size": 32,
            "large_batches": 1,
            "batch_size": 1600,
            "keep_on_host": False,
        },
    ),
    "float64": (
        {"batch_size": [8, 16, 32], "dtype": ["float32"]},
        {"batch_size": 40000, "dtype": "float32"},
    ),
}
_LIMITS_MIB = (256, 320, 384, 512)
_TRAININGS_OF_A_JOB = 20
_OOMS_OF_A_JOB = 2


def main() -> int:
    """Records until there are so many runs; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--at-a-time", type=int, default=2)
    parser.add_argument("--job", nargs=2, metavar=("DEMO", "LIMIT_MIB"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        _be_a_job(options.folder, *options.job)
        return 0
    kinds = itertools.cycle(itertools.product(_LIMITS_MIB, _DEMOS))
    with ThreadPoolExecutor(options.at_a_time) as processes:
        for round_number in itertools.count():
            before = _count(options.folder)
            missing = options.count - before
            if missing <= 0:
                break
            jobs = [
                (demo, limit, options.folder / f"{demo}-{limit}MiB-{round_number}")
                for limit, demo in itertools.islice(
                    kinds, max(1, missing // (_TRAININGS_OF_A_JOB + _OOMS_OF_A_JOB))
                )
            ]
            list(processes.map(lambda job: _run_job(*job), jobs))
            if _count(options.folder) == before:
                print(f"No job left a run; {jobs[0][2]}/output.txt says why.", file=sys.stderr)
                return 1
    print(f"{_count(options.folder)} runs in {options.folder}")
    return 0


def _count(folder: Path) -> int:
    return len(list(folder.glob("*/plugins/profile/*")))


def _run_job(demo: str, limit_mib: int, logdir: Path) -> None:
    logdir.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "OOM_FORENSICS_LOGDIR": str(logdir),
        "OOM_FORENSICS_MAX_REPORTS": str(_OOMS_OF_A_JOB),
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPU_BFC_MEM_LIMIT_IN_MB": str(limit_mib),
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
    }
    with (logdir / "output.txt").open("w") as output:
        ended = subprocess.run(
            [sys.executable, "-m", "fleets.record", logdir, "--job", demo, str(limit_mib)],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    found = len(list(logdir.glob("plugins/profile/*")))
    print(f"{logdir.name}: {found} runs, exit code {ended.returncode}", flush=True)


def _be_a_job(logdir: Path, demo: str, limit_mib: str) -> None:
    import importlib

    import oom_forensics
    import tensorflow as tf

    train = importlib.import_module(f"demos.{demo}").train
    fitting, too_large = _DEMOS[demo]
    choices = [
        dict(zip(fitting, values, strict=True)) for values in itertools.product(*fitting.values())
    ]
    out_of_memory = 0
    for number in range(_TRAININGS_OF_A_JOB):
        # Every tenth training is one too many; where the pool is full by then, others are.
        wanted = too_large if number % 10 == 9 else choices[number % len(choices)]
        try:
            with oom_forensics.record(logdir):
                train(argparse.Namespace(memory_limit_mib=int(limit_mib), **wanted))
        except tf.errors.ResourceExhaustedError:
            out_of_memory += 1
        tf.keras.backend.clear_session()
        if out_of_memory == _OOMS_OF_A_JOB:
            break


if __name__ == "__main__":
    sys.exit(main())
