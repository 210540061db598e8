"""Standard input that can be asked whether there is something to read."""

from __future__ import annotations

import os
import threading

_STDIN = 0
_PIECE_BYTES = 1 << 16


class StandardInput:
    """Reads ahead in a thread of its own, from the first question on."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._bytes = bytearray()
        self._ended = False
        self._thread: threading.Thread | None = None

    def is_ready(self) -> bool:
        """Whether `read` would not wait: there are bytes, or no more will come."""
        self._begin()
        with self._changed:
            return bool(self._bytes) or self._ended

    def read(self, most_bytes: int) -> bytes:
        """Waits for bytes and returns up to so many; none: the input has ended."""
        self._begin()
        with self._changed:
            self._changed.wait_for(lambda: self._bytes or self._ended)
            piece = bytes(self._bytes[:most_bytes])
            del self._bytes[:most_bytes]
            return piece

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._read_ahead, name="oom-forensics requests", daemon=True
            )
            self._thread.start()

    def _read_ahead(self) -> None:
        while True:
            try:
                piece = os.read(_STDIN, _PIECE_BYTES)
            except OSError:
                piece = b""
            with self._changed:
                self._bytes += piece
                self._ended = not piece
                self._changed.notify()
            if not piece:
                return
