"""What the black box costs a TensorFlow job: ratios to the same job without it.

It can only be chosen when TensorFlow is imported, so each way is a process of its own, and
processes differ by more than the cost that is looked for (where their memory lies). So several
of each way are started. They live side by side and work in turns, a short slice each, in an
order that is drawn again:

  off    OOM_FORENSICS_BLACK_BOX=0: everything else is on
  box    as installed: the file, the look ten times a second, TensorFlow's malloc by op
  host   OOM_FORENSICS_HOST=1: the blocks of NumPy, Python and other libraries, too

Time is that of the process on the CPU, of all its threads. Of a process the lower quartile of
its slices counts: what else the machine does only adds to a slice. The table shows, for each
way, the median over its processes as a ratio to that of `off`, and the standard error of that
ratio.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

WAYS = {
    "off": {"OOM_FORENSICS_BLACK_BOX": "0"},
    "box": {"OOM_FORENSICS_BLACK_BOX": "1", "OOM_FORENSICS_HOST": "0"},
    "host": {"OOM_FORENSICS_BLACK_BOX": "1", "OOM_FORENSICS_HOST": "1"},
}
EAGER_OPS_PER_SLICE = 500
STEPS_PER_SLICE = 2
ARRAYS_PER_SLICE = 20_000
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
# How many things a job does in a slice.
COUNTS = {
    "eager add, 16x16": EAGER_OPS_PER_SLICE,
    "Keras train step": STEPS_PER_SLICE,
    "np.empty, 1 KiB": ARRAYS_PER_SLICE,
    "np.empty, 256 KiB": ARRAYS_PER_SLICE,
}
# By way and job, the lower quartile of each process.
MEASURED: dict[tuple[str, str], list[float]] = {(way, name): [] for way in WAYS for name in COUNTS}
Job = Callable[[], None]


def jobs() -> dict[str, Job]:
    """Returns a slice of each job, by its name."""
    import numpy as np
    import tensorflow as tf
    from benchmarks.training_job import training_job

    train = training_job(STEPS_PER_SLICE)
    left = tf.random.normal([16, 16])

    def add() -> None:
        for _ in range(EAGER_OPS_PER_SLICE):
            tf.add(left, left)

    def arrays(bytes_each: int) -> Job:
        def run() -> None:
            for _ in range(ARRAYS_PER_SLICE):
                np.empty(bytes_each, np.uint8)

        return run

    return dict(zip(COUNTS, [add, train, arrays(1 << 10), arrays(256 << 10)], strict=True))


def work() -> None:
    """Does a slice of the job that each line of stdin names, and prints its seconds."""
    mine = jobs()
    for job in mine.values():
        job()
        job()
    print("ready", flush=True)
    for line in sys.stdin:
        job = mine[line.strip()]
        # What was in the caches belonged to another process.
        job()
        begin = time.process_time()
        job()
        print(time.process_time() - begin, flush=True)


class Worker:
    """A process that works in one way."""

    def __init__(self, way: str, folder: str) -> None:
        self.way = way
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            env={**os.environ, **ENVIRONMENT, **WAYS[way], "TMPDIR": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        self._ask("")

    def _ask(self, line: str) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise BrokenPipeError
        if line:
            print(line, file=stdin, flush=True)
        return stdout.readline().strip()

    def seconds(self, job: str) -> float:
        """Does a slice."""
        return float(self._ask(job))

    def stop(self) -> None:
        """Lets it end."""
        self._process.communicate()


def slices_of(workers: list[Worker], rounds: int, shuffle: random.Random) -> None:
    """Lets the workers work in turns and adds the quartile of each to MEASURED."""
    slices: dict[tuple[int, str], list[float]] = {}
    for number in range(rounds):
        for name in COUNTS:
            order = list(range(len(workers)))
            shuffle.shuffle(order)
            for index in order:
                seconds = workers[index].seconds(name)
                slices.setdefault((index, name), []).append(seconds)
        print(f"\r  round {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for (index, name), seconds_each in slices.items():
        lower = statistics.quantiles(seconds_each, n=4)[0]
        MEASURED[workers[index].way, name].append(lower)


def error_of(values: list[float]) -> float:
    """Returns the standard error of the median, as a share of it."""
    return 1.253 * statistics.stdev(values) / statistics.mean(values) / math.sqrt(len(values))


def main() -> None:
    """Measures the ways and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--processes", type=int, default=10, help="of each way")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=2, help="processes of each way at a time")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work()
        return
    shuffle = random.Random(1)
    for _ in range(0, arguments.processes, arguments.at_once):
        with tempfile.TemporaryDirectory() as folder:
            workers = [Worker(way, folder) for way in WAYS for _ in range(arguments.at_once)]
            slices_of(workers, arguments.rounds, shuffle)
            for worker in workers:
                worker.stop()
    print("| job | black box | µs each | ratio to off |")
    print("| --- | --- | --- | --- |")
    for name, count in COUNTS.items():
        off = MEASURED["off", name]
        for way in WAYS:
            mine = MEASURED[way, name]
            ratio = statistics.median(mine) / statistics.median(off)
            error = math.hypot(error_of(mine), error_of(off))
            each = statistics.median(mine) / count * 1e6
            print(f"| {name} | {way} | {each:,.2f} | {ratio:.3f} ± {error:.3f} |")


if __name__ == "__main__":
    main()
