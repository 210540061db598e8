"""The converters that are running: one per opened trace, dropped by least use."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oom_forensics.converter_process import (
    BodyFormat,
    ConverterError,
    ConverterProcess,
    Limits,
)
from oom_forensics.machine_memory import usable_bytes


@dataclass(frozen=True)
class TraceVersion:
    """A trace as its files are now."""

    path: str
    revision: int = 0
    """Greater for newer files. The converter of an older revision has read the old
    files, and is replaced; one of a newer revision never is."""


@dataclass
class _Opened:
    process: ConverterProcess
    revision: int
    users: int = 0
    """Requests that hold it; it is not dropped for another trace meanwhile."""
    used_at: float = field(default_factory=time.monotonic)
    """When the last request ended."""
    superseded: bool = False
    """The trace changed; whoever waits asks the converter of the new one."""


class ConverterPool:
    """Keeps up to `max_open` converters within `total_bytes` of memory.

    All methods may be called by any thread. What nobody uses is dropped: the least
    recently used first where there are too many, and each that was idle for `idle_s`.
    One that is still reading its trace when nobody waits for it any more is ended after
    `abandoned_s`.
    """

    def __init__(
        self,
        max_open: int = 4,
        limits: Limits | None = None,
        *,
        total_bytes: int | None = None,
        idle_s: float = 600.0,
        abandoned_s: float = 2.0,
    ) -> None:
        self._max_open = max_open
        self._limits = limits
        self._total_bytes = total_bytes or usable_bytes() // 2
        self._idle_s = idle_s
        self._abandoned_s = abandoned_s
        self._lock = threading.Lock()
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._closed = threading.Event()
        self._janitor: threading.Thread | None = None

    def ask(
        self,
        trace: TraceVersion,
        query: dict[str, Any],
        form: BodyFormat = "protobuf",
        other: TraceVersion | None = None,
        still_wanted: Callable[[], bool] | None = None,
    ) -> bytes:
        """Asks the converter of a trace, starting it where there is none.

        Args:
          trace: which; an older revision than the one that is open is answered by the
            newer one.
          query: see ConverterProcess.ask.
          form: see ConverterProcess.ask.
          other: for COMPARE, the second trace.
          still_wanted: see ConverterProcess.ask.

        Raises:
          ConverterError: it cannot be answered; the sentence says why.
          ConverterMissingError: the package holds no converter.
        """
        other_path, other_version = (other.path, str(other.revision)) if other else ("", "")
        while True:
            opened = self._open(trace)
            try:
                return opened.process.ask(query, form, other_path, other_version, still_wanted)
            except ConverterError:
                if not opened.superseded:
                    raise
            finally:
                with self._lock:
                    opened.users -= 1
                    opened.used_at = time.monotonic()

    def progress(self, path: str) -> float | None:
        """How much of a trace has been read, 0 to 1; None where it is not open."""
        with self._lock:
            opened = self._opened.get(path)
        return opened.process.progress if opened and opened.process.alive else None

    def close(self) -> None:
        """Ends all converters."""
        self._closed.set()
        with self._lock:
            gone = list(self._opened.values())
            self._opened.clear()
        for opened in gone:
            opened.process.close()

    def _open(self, trace: TraceVersion) -> _Opened:
        """Returns the converter of a trace, with one user more."""
        gone: list[_Opened] = []
        try:
            with self._lock:
                opened = self._opened.get(trace.path)
                if opened and (opened.revision < trace.revision or not opened.process.alive):
                    opened.superseded = opened.revision < trace.revision
                    gone.append(self._opened.pop(trace.path))
                    opened = None
                if opened is None:
                    opened = _Opened(ConverterProcess(trace.path, self._limits), trace.revision)
                    self._opened[trace.path] = opened
                    self._watch_idle_ones()
                opened.users += 1
                self._opened.move_to_end(trace.path)
                gone += self._take_least_used_beyond_limits()
                return opened
        finally:
            for dropped in gone:
                dropped.process.close()

    def _take_least_used_beyond_limits(self) -> list[_Opened]:
        """Takes idle converters out; one that answers someone stays for now."""
        too_many = max(0, len(self._opened) - self._max_open)
        too_much = sum(each.process.resident_bytes for each in self._opened.values())
        too_much -= self._total_bytes
        gone = []
        for path, opened in list(self._opened.items()):
            if too_many <= 0 and too_much <= 0:
                break
            if not opened.users:
                too_many -= 1
                too_much -= opened.process.resident_bytes
                gone.append(self._opened.pop(path))
        return gone

    def _watch_idle_ones(self) -> None:
        if self._janitor is None:
            self._janitor = threading.Thread(
                target=self._end_idle_ones, name="oom-forensics converters", daemon=True
            )
            self._janitor.start()

    def _end_idle_ones(self) -> None:
        interval_s = max(0.05, min(self._idle_s, self._abandoned_s) / 2)
        while not self._closed.wait(interval_s):
            with self._lock:
                gone = [path for path, each in self._opened.items() if self._is_left(each)]
                ended = [self._opened.pop(path) for path in gone]
                ended += self._take_least_used_beyond_limits()
            for opened in ended:
                with contextlib.suppress(OSError):
                    opened.process.close()

    def _is_left(self, opened: _Opened) -> bool:
        if opened.users:
            return False
        idle_s = time.monotonic() - opened.used_at
        is_read = opened.process.progress >= 1.0
        return idle_s > (self._idle_s if is_read else self._abandoned_s)
