"""What the collector costs a TensorFlow job: ratios to the same job without it.

One process, five ways to run, taken in turns so that whatever else the machine does
hits all of them alike:

  off              the collector is taken out of TensorFlow's virtual tables
  always on        as installed: live set and last events
  recording        `oom_forensics.record`: every event kept
  profiler         TensorFlow's own profiler at its defaults, the collector off
  profiler + ours  the same with the collector: every event kept beside its own

Two jobs: an eager operation on small tensors, where the allocator is most of the work,
and a Keras training step. A round times every way once. Time is that of the process on
the CPU, of all its threads: another job on the machine does not count. The table shows
the median of the rounds' ratios to `off` and their middle half.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("TF_CPU_ALLOCATOR_USE_BFC", "1")
os.environ.setdefault("TF_CPU_BFC_MEM_LIMIT_IN_MB", "4096")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import oom_forensics
import tensorflow as tf

EAGER_OPS_PER_ROUND = 4000
STEPS_PER_ROUND = 12
WAYS = ("off", "always on", "recording", "profiler", "profiler + ours")
Job = Callable[[], None]


def eager_job() -> Job:
    """Returns a job of many small eager operations."""
    left = tf.random.normal([16, 16])
    right = tf.random.normal([16, 16])

    def run() -> None:
        for _ in range(EAGER_OPS_PER_ROUND):
            tf.add(left, right)

    return run


def training_job() -> Job:
    """Returns a job of Keras training steps of a small convolutional network."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((32, 32, 3)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    rng = np.random.default_rng(0)
    images = rng.random((32, 32, 32, 3), np.float32)
    labels = rng.integers(0, 10, 32)

    def run() -> None:
        for _ in range(STEPS_PER_ROUND):
            model.train_on_batch(images, labels)

    return run


@contextlib.contextmanager
def way(name: str) -> Iterator[None]:
    """Runs its body in one of the ways."""
    oom_forensics.configure(enabled=name not in ("off", "profiler"))
    with tempfile.TemporaryDirectory() as logdir:
        if name == "recording":
            with oom_forensics.record(logdir):
                yield
        elif name.startswith("profiler"):
            with tf.profiler.experimental.Profile(logdir):
                yield
        else:
            yield


def measure(job: Job, rounds: int) -> dict[str, list[float]]:
    """Returns the seconds of each round by way."""
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    shuffle = random.Random(1)
    job()
    for number in range(rounds):
        order = list(WAYS)
        shuffle.shuffle(order)
        for name in order:
            with way(name):
                job()
                begin = time.process_time()
                job()
                seconds[name].append(time.process_time() - begin)
        print(f"\r  round {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return seconds


def table_lines(title: str, seconds: dict[str, list[float]], count: int) -> list[str]:
    """Returns the table's lines of one job."""
    lines = []
    for name in WAYS:
        pairs = zip(seconds[name], seconds["off"], strict=True)
        ratios = [value / off for value, off in pairs]
        low, middle, high = statistics.quantiles(ratios, n=4)
        each = statistics.median(seconds[name]) / count * 1e6
        lines.append(f"| {title} | {name} | {each:,.1f} | {middle:.3f} | {low:.3f} to {high:.3f} |")
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
    """Measures both jobs and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    rounds = parser.parse_args().rounds
    lines = []
    print("eager operation", file=sys.stderr)
    seconds = measure(eager_job(), rounds)
    lines += table_lines("eager add, 16x16", seconds, EAGER_OPS_PER_ROUND)
    print("training step", file=sys.stderr)
    seconds = measure(training_job(), rounds)
    lines += table_lines("Keras train step", seconds, STEPS_PER_ROUND)
    cores = len(os.sched_getaffinity(0))
    print(f"TensorFlow {tf.__version__}, {cores} cores, {rounds} rounds, ratio to off\n")
    print("| job | collector | µs each | ratio | middle half |")
    print("| --- | --- | --- | --- | --- |")
    print("\n".join(lines))
    print(f"\n{stop_cost()}")


if __name__ == "__main__":
    main()
