"""What a fleet says while it works."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Progress:
    """Says on stderr, now and then, how many of the runs are converted."""

    def __init__(self, total: int, every_s: float = 2.0) -> None:
        self._total = total
        self._every_s = every_s
        self._begin = time.monotonic()
        self._before = (0, 0)

    @contextmanager
    def watching(self, counts: Callable[[], tuple[int, int]]) -> Iterator[None]:
        """Asks for (runs done, runs that failed) of one batch until the block ends."""
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(counts, ended), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            self._before = self._sum(counts())

    def _watch(self, counts: Callable[[], tuple[int, int]], ended: threading.Event) -> None:
        said = -1
        while not ended.wait(self._every_s):
            done, failed = self._sum(counts())
            # A task that is done again counts again.
            done = min(done, self._total)
            if done != said:
                said = done
                rate = done / (time.monotonic() - self._begin)
                print(
                    f"{done} of {self._total} runs, {failed} not converted, {rate:.1f} a second",
                    file=sys.stderr,
                    flush=True,
                )

    def _sum(self, counts: tuple[int, int]) -> tuple[int, int]:
        return self._before[0] + counts[0], self._before[1] + counts[1]
