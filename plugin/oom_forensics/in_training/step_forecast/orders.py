"""Orders in which an executor may run the ops that are ready.

TensorFlow promises none: which of two ready ops runs first depends on its threads. A forecast
is therefore made in several orders, and its range is what is known.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Order:
    """A way to choose.

    Attributes:
      name: "fifo": first ready, first run, as one thread does; "lifo": last ready first;
        "two_workers": two ops at a time; "random_N": two at a time, chosen at random.
      workers: Ops that run at a time.
      seed: None: not at random.
    """

    name: str
    workers: int = 1
    last_first: bool = False
    seed: int | None = None


ORDERS = (
    Order("fifo"),
    Order("lifo", last_first=True),
    Order("two_workers", workers=2),
    Order("random_1", workers=2, seed=1),
    Order("random_2", workers=2, seed=2),
)


class ReadyQueue:
    """The ops that can run, in the order that they are taken."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._ready: deque[int] = deque()
        self._random = None if order.seed is None else random.Random(order.seed)

    def __bool__(self) -> bool:
        return bool(self._ready)

    def push(self, node: int) -> None:
        """A node has become ready."""
        self._ready.append(node)

    def pop(self) -> int:
        """The node to run next."""
        if self._random is not None:
            self._ready.rotate(-self._random.randrange(len(self._ready)))
            return self._ready.popleft()
        return self._ready.pop() if self._order.last_first else self._ready.popleft()
