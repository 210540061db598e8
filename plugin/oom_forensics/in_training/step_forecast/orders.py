"""Orders in which an executor may run the ops that are ready.

TensorFlow promises none: which of two ready ops runs first depends on its threads. A forecast
is therefore made in several orders, and its range is what is known.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

# More threads than this choose no other orders worth the time.
_MOST_THREADS = 8


@dataclass(frozen=True)
class Order:
    """A way to choose.

    Attributes:
      name: "fifo": first ready, first run, as one thread does; "lifo": last ready first;
        "random_N": two at a time, chosen at random; "threads_1": as TensorFlow's threads do,
        which know of no op yet how long it takes; "threads_2": once they know.
      workers: Ops that run at a time; 0: as many as TensorFlow has threads for ops.
      seed: Of what is left to chance: how long an op takes, and, in an order at random, which
        one is next.
      as_threads: Each worker goes on with what it made ready itself (TensorFlow's executor,
        common_runtime/executor.cc, on Eigen's pool of threads).
      is_warm: Only ops on large tensors are worth another thread.
      fetches_next: While the step runs its pipeline makes the element of the next one, as
        tf.data does (it adds a prefetch where the program has none). Not for the last step.
      loops_ahead: As many iterations of a loop have begun as may be (early_part.py).
      loops_behind: As many have done all that later iterations wait for, and have not ended.
    """

    name: str
    workers: int = 1
    last_first: bool = False
    seed: int = 0
    at_random: bool = False
    as_threads: bool = False
    is_warm: bool = False
    fetches_next: bool = True
    loops_ahead: bool = False
    loops_behind: bool = False

    def of_this_process(self) -> Order:
        """The order with the number of threads that TensorFlow has here."""
        return self if self.workers else replace(self, workers=_threads())

    def within_an_op(self) -> Order:
        """The order of the ops of a loop's body: one at a time, unless it is at random."""
        return self if self.at_random else replace(self, workers=1, as_threads=False)


ORDERS = (
    Order("fifo", fetches_next=False),
    Order("threads_1", workers=0, seed=1, as_threads=True, loops_ahead=True),
    Order("lifo", last_first=True),
    Order(
        "threads_2",
        workers=0,
        seed=2,
        as_threads=True,
        is_warm=True,
        loops_ahead=True,
        loops_behind=True,
    ),
    Order("random_1", workers=2, seed=1, at_random=True),
    Order("random_2", workers=2, seed=2, at_random=True),
)

# Which tensors meet at the peak is a matter of luck where few ops make large ones: more
# orders, for steps in which that takes little time.
MORE_ORDERS = tuple(
    Order(f"random_{seed}", workers=2, seed=seed, at_random=True) for seed in range(3, 9)
)


class SharedQueue:
    """The ops that can run, in one queue for all workers."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._ready: deque[int] = deque()
        self._random = random.Random(order.seed) if order.at_random else None

    def made_ready(self, worker: int | None, nodes: Sequence[int]) -> None:
        """These nodes can run now; a worker ended what they waited for, or nobody."""
        del worker
        self._ready.extend(nodes)

    def next_of(self, worker: int) -> int | None:
        """The node that the worker runs next; None: there is none."""
        del worker
        if not self._ready:
            return None
        if self._random is not None:
            self._ready.rotate(-self._random.randrange(len(self._ready)))
            return self._ready.popleft()
        return self._ready.pop() if self._order.last_first else self._ready.popleft()


class ThreadQueues:
    """The ops that can run, in a queue for each thread.

    A thread runs the cheap ops that it has made ready itself, and one expensive one where
    there is nothing else; others it offers to all, but takes the newest back itself. Who has
    nothing takes the oldest from another.
    """

    def __init__(self, order: Order, is_expensive: Callable[[int], bool]) -> None:
        self._is_expensive = is_expensive
        self._inline: list[deque[int]] = [deque() for _ in range(order.workers)]
        self._offered: list[deque[int]] = [deque() for _ in range(order.workers)]
        self._from_outside = 0

    def made_ready(self, worker: int | None, nodes: Sequence[int]) -> None:
        """As of a SharedQueue."""
        if worker is None:
            for node in nodes:
                self._offered[self._from_outside].append(node)
                self._from_outside = (self._from_outside + 1) % len(self._offered)
            return
        inline, offered = self._inline[worker], self._offered[worker]
        last: int | None = None
        for node in nodes:
            if not self._is_expensive(node):
                inline.append(node)
                continue
            if last is not None:
                offered.appendleft(last)
            last = node
        if last is not None:
            inline.append(last) if not inline else offered.appendleft(last)

    def next_of(self, worker: int) -> int | None:
        """As of a SharedQueue."""
        for own in (self._inline[worker], self._offered[worker]):
            if own:
                return own.popleft()
        return next((other.pop() for other in self._offered if other), None)


def queue_of(order: Order, is_expensive: Callable[[int], bool]) -> SharedQueue | ThreadQueues:
    """The ops that are ready, as the order takes them."""
    return ThreadQueues(order, is_expensive) if order.as_threads else SharedQueue(order)


def _threads() -> int:
    import os

    import tensorflow as tf

    threads = tf.config.threading.get_inter_op_parallelism_threads() or os.cpu_count() or 1
    return min(int(threads), _MOST_THREADS)
