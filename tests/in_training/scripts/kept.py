"""Keeps tensors in every way there is, in a leak of gradient tapes above all. Argument: a logdir.

Each way has a size of its own.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import oom_forensics
import tensorflow as tf
from oom_forensics.in_training.evidence import providers

oom_forensics.configure(logdir=sys.argv[1])
MEBIBYTE_OF_FLOATS = 1 << 18

losses: list[tf.GradientTape] = []
weights = tf.Variable(tf.random.uniform([1024, 1024]))


def step() -> None:
    """A train step that forgets to let its tape go."""
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(tf.exp(weights))
    tape.gradient(loss, weights)
    losses.append(tape)


class Cautious:
    """Says so when somebody runs its code."""

    def __init__(self) -> None:
        self.items = {"a secret": tf.zeros([3 * MEBIBYTE_OF_FLOATS])}

    def __getattr__(self, name: str) -> Any:
        print("ran __getattr__", name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        print("ran __repr__")
        return ""

    def __len__(self) -> int:
        print("ran __len__")
        return 1

    def __eq__(self, other: object) -> bool:
        print("ran __eq__")
        return False

    __hash__ = None  # type: ignore[assignment]


def make_closure() -> Callable[[], Any]:
    """A tensor in a closure."""
    captured = tf.zeros([5 * MEBIBYTE_OF_FLOATS])
    return lambda: captured


def generate() -> Iterator[Any]:
    """A tensor in a generator that waits."""
    waiting = tf.zeros([6 * MEBIBYTE_OF_FLOATS])
    yield waiting.shape
    yield waiting


def fail() -> None:
    """A tensor in the traceback of an exception that is kept."""
    inner = tf.zeros([7 * MEBIBYTE_OF_FLOATS])
    raise ValueError(inner.shape)  # line: failure


def until_out_of_memory() -> None:
    """A tensor in a list of a function that is running."""
    mine = [tf.zeros([4 * MEBIBYTE_OF_FLOATS]) for _ in range(2)]
    try:
        while True:
            step()  # line: step
    except tf.errors.ResourceExhaustedError:
        print("out of memory", len(mine))


cautious = Cautious()
function = make_closure()
generator = generate()
next(generator)
# As Keras leaves them with the output of a sigmoid.
probabilities: Any = tf.zeros([])
probabilities._keras_logits = tf.zeros([2 * MEBIBYTE_OF_FLOATS])
errors = []
try:
    fail()
except ValueError as caught:
    errors.append(caught)
until_out_of_memory()
oom_forensics.snapshot()
print(providers.failures)
losses.clear()
gc.collect()
in_use = sum(each.get("in_use_bytes", 0) for each in oom_forensics.memory_stats())
print("in use", in_use)
