"""What the collector costs a TensorFlow job: ratios to the same job without it.

One process, six ways to run, taken in turns so that whatever else the machine does
hits all of them alike:

  off              the collector is taken out of TensorFlow's virtual tables
  without lines    always on, but without Python's stacks
  always on        as installed: live set, last events, stacks
  recording        `oom_forensics.record`: every event kept
  profiler         TensorFlow's own profiler at its defaults, the collector off
  profiler + ours  the same with the collector: every event kept beside its own

Three jobs: an eager operation on small tensors, where the allocator is most of the work;
a `tf.data` map of tiny tensors with eight parallel calls, whose threads meet in the pool;
and a Keras training step. A round times a short slice of every way, each between two
slices of `off`, and relates it to their mean: what changes slowly cancels out. Time is
that of the process on the CPU, of all its threads: another job on the machine does not
count. The table shows the median of the rounds' ratios, their middle half, and the
standard error of the median.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("TF_CPU_ALLOCATOR_USE_BFC", "1")
os.environ.setdefault("TF_CPU_BFC_MEM_LIMIT_IN_MB", "4096")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import oom_forensics
import tensorflow as tf
from benchmarks.training_job import training_job

EAGER_OPS_PER_SLICE = 300
STEPS_PER_SLICE = 4
MAPPED_PER_SLICE = 300
# The ways, and in every how many rounds they are timed: the first are the ones that have
# to be told from noise, the last ones take a second to begin and end.
WAYS = {
    "off": 1,
    "without lines": 1,
    "always on": 1,
    "recording": 2,
    "profiler": 15,
    "profiler + ours": 15,
}
Job = Callable[[], None]


def eager_job() -> Job:
    """Returns a job of many small eager operations."""
    left = tf.random.normal([16, 16])
    right = tf.random.normal([16, 16])

    def run() -> None:
        for _ in range(EAGER_OPS_PER_SLICE):
            tf.add(left, right)

    return run


def parallel_job() -> Job:
    """Returns a job whose threads allocate tiny tensors at once."""

    def work(number: tf.Tensor) -> tf.Tensor:
        filled = tf.fill([64], tf.cast(number, tf.float32))
        doubled = filled * 2.0 + 1.0
        joined = tf.concat([doubled, filled], 0)
        return tf.reduce_sum(joined * joined)

    mapped = tf.data.Dataset.range(MAPPED_PER_SLICE).map(work, num_parallel_calls=8)

    def run() -> None:
        for _ in mapped:
            pass

    return run


@contextlib.contextmanager
def way(name: str) -> Iterator[None]:
    """Runs its body in one of the ways."""
    oom_forensics.configure(
        enabled=name not in ("off", "profiler"), source_lines=name != "without lines"
    )
    with tempfile.TemporaryDirectory() as logdir:
        if name == "recording":
            with oom_forensics.record(logdir):
                yield
        elif name.startswith("profiler"):
            with tf.profiler.experimental.Profile(logdir):
                yield
        else:
            yield


@dataclass
class Slices:
    """What was measured of one way."""

    seconds: list[float] = field(default_factory=list)
    # To the slices of `off` before and after.
    ratios: list[float] = field(default_factory=list)


def slice_seconds(job: Job, name: str) -> float:
    """Returns the seconds of one slice, after one that is not timed."""
    with way(name):
        job()
        begin = time.process_time()
        job()
        return time.process_time() - begin


def measure(job: Job, rounds: int) -> dict[str, Slices]:
    """Returns the slices by way."""
    slices = {name: Slices() for name in WAYS}
    shuffle = random.Random(1)
    job()
    before = slice_seconds(job, "off")
    for number in range(rounds):
        # `off` among the others shows what the machine's noise alone makes of a ratio.
        order = [name for name, every in WAYS.items() if number % every == 0]
        shuffle.shuffle(order)
        for name in order:
            seconds = slice_seconds(job, name)
            after = slice_seconds(job, "off")
            slices[name].seconds.append(seconds)
            slices[name].ratios.append(2 * seconds / (before + after))
            before = after
        print(f"\r  round {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return slices


def table_lines(title: str, slices: dict[str, Slices], count: int) -> list[str]:
    """Returns the table's lines of one job."""
    lines = []
    for name in WAYS:
        ratios = slices[name].ratios
        low, middle, high = statistics.quantiles(ratios, n=4)
        # Of the median of a normal distribution, by its quartiles.
        error = 1.253 * (high - low) / 1.349 / math.sqrt(len(ratios))
        each = statistics.median(slices[name].seconds) / count * 1e6
        lines.append(
            f"| {title} | {name} | {each:,.1f} | {middle:.3f} ± {error:.3f} |"
            f" {low:.3f} to {high:.3f} |"
        )
    return lines


def stop_cost() -> str:
    """Returns how long the end of a recording takes, by its events."""
    oom_forensics.configure(enabled=True)
    left = tf.random.normal([16, 16])
    operations = 250_000
    with tempfile.TemporaryDirectory() as logdir:
        recording = oom_forensics.record(logdir)
        recording.__enter__()
        for _ in range(operations):
            tf.add(left, left)
        begin = time.process_time()
        recording.__exit__(None, None, None)
        seconds = time.process_time() - begin
        size = sum(file.stat().st_size for file in Path(logdir).rglob("*.xplane.pb"))
    events = 2 * operations
    return (
        f"The end of a recording of {events:,} events: {seconds:.2f} s,"
        f" {seconds / events * 1e6:.2f} s per million events;"
        f" {size / operations:.0f} bytes for an allocation and its free."
    )


def main() -> None:
    """Measures the jobs and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=240)
    rounds = parser.parse_args().rounds
    lines = []
    print("eager operation", file=sys.stderr)
    # Its slices are short.
    slices = measure(eager_job(), 3 * rounds)
    lines += table_lines("eager add, 16x16", slices, EAGER_OPS_PER_SLICE)
    print("parallel map", file=sys.stderr)
    slices = measure(parallel_job(), rounds)
    lines += table_lines("tf.data map, 8 parallel calls", slices, MAPPED_PER_SLICE)
    print("training step", file=sys.stderr)
    slices = measure(training_job(STEPS_PER_SLICE), rounds)
    lines += table_lines("Keras train step", slices, STEPS_PER_SLICE)
    cores = len(os.sched_getaffinity(0))
    print(f"TensorFlow {tf.__version__}, {cores} cores, {rounds} rounds, ratio to off\n")
    print("| job | collector | µs each | ratio to off | middle half |")
    print("| --- | --- | --- | --- | --- |")
    print("\n".join(lines))
    print(f"\n{stop_cost()}")


if __name__ == "__main__":
    main()
