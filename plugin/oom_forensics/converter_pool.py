"""The converters that are running: one per opened trace, dropped by least use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from oom_forensics.converter_process import (
    BodyFormat,
    ConverterError,
    ConverterProcess,
    Limits,
)


@dataclass
class _Opened:
    process: ConverterProcess
    version: Hashable
    users: int = 0
    """Requests that hold it; it is not dropped for another trace meanwhile."""
    superseded: bool = False
    """The trace changed; whoever waits asks the converter of the new one."""


class ConverterPool:
    """Keeps up to `max_open` converters, least recently used dropped first.

    All methods may be called by any thread. Two traces are answered at the same
    time; requests to one trace are answered one after the other.
    """

    def __init__(self, max_open: int = 4, limits: Limits | None = None) -> None:
        self._max_open = max_open
        self._limits = limits
        self._lock = threading.Lock()
        self._opened: OrderedDict[str, _Opened] = OrderedDict()

    def ask(
        self,
        trace: str,
        version: Hashable,
        query: dict[str, Any],
        form: BodyFormat = "protobuf",
        other_trace: str = "",
    ) -> bytes:
        """Asks the converter of a trace, starting it where there is none.

        Args:
          trace: path of the trace.
          version: changes whenever the trace's files do; the converter is then
            started again, because the old one has read the old files.
          query: see ConverterProcess.ask.
          form: see ConverterProcess.ask.
          other_trace: see ConverterProcess.ask.

        Raises:
          ConverterError: it cannot be answered; the sentence says why.
          ConverterMissingError: the package holds no converter.
        """
        while True:
            opened = self._open(trace, version)
            try:
                return opened.process.ask(query, form, other_trace)
            except ConverterError:
                if not opened.superseded:
                    raise
            finally:
                with self._lock:
                    opened.users -= 1

    def progress(self, trace: str) -> float | None:
        """How much of a trace has been read, 0 to 1; None where it is not open."""
        with self._lock:
            opened = self._opened.get(trace)
        return opened.process.progress if opened and opened.process.alive else None

    def cancel(self, trace: str) -> bool:
        """Ends the converter of a trace; False where there is none."""
        with self._lock:
            opened = self._opened.pop(trace, None)
        if opened is None:
            return False
        opened.process.cancel()
        opened.process.close()
        return True

    def close(self) -> None:
        """Ends all converters."""
        with self._lock:
            gone = list(self._opened.values())
            self._opened.clear()
        for opened in gone:
            opened.process.close()

    def _open(self, trace: str, version: Hashable) -> _Opened:
        """Returns the converter of a trace, with one user more."""
        gone: list[_Opened] = []
        try:
            with self._lock:
                opened = self._opened.get(trace)
                if opened and (opened.version != version or not opened.process.alive):
                    opened.superseded = opened.version != version
                    gone.append(self._opened.pop(trace))
                    opened = None
                if opened is None:
                    opened = _Opened(ConverterProcess(trace, self._limits), version)
                    self._opened[trace] = opened
                opened.users += 1
                self._opened.move_to_end(trace)
                gone += self._take_least_used_beyond_limit()
                return opened
        finally:
            for dropped in gone:
                dropped.process.close()

    def _take_least_used_beyond_limit(self) -> list[_Opened]:
        """Takes idle converters out; one that answers someone stays for now."""
        too_many = max(0, len(self._opened) - self._max_open)
        idle = [trace for trace, opened in self._opened.items() if not opened.users]
        return [self._opened.pop(trace) for trace in idle[:too_many]]
