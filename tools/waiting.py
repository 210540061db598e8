"""Waiting for what others do: what each test and tool with a server needs."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable


def free_port() -> int:
    """Returns a port that nobody listened on a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_until(condition: Callable[[], object], patience_s: float = 60) -> None:
    """Returns when the condition holds.

    Raises:
      TimeoutError: It did not hold in time.
    """
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"It was not so within {patience_s:.0f} s.")
        time.sleep(0.02)
