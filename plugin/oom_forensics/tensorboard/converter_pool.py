"""The converters that are running: one per opened trace, dropped by least use."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oom_forensics.converter.process import (
    CODE_CANCELLED,
    CODE_UNAVAILABLE,
    BodyFormat,
    ConverterError,
    ConverterProcess,
    Limits,
)
from oom_forensics.core.machine_memory import usable_bytes
from oom_forensics.logdir import first_reading

_LOOK_AROUND_S = 0.1
"""How often a question that waits for a place looks whether it is still wanted."""


@dataclass(frozen=True)
class TraceVersion:
    """A trace as its files are now."""

    path: str
    revision: int = 0
    """Greater for newer files. The converter of an older revision has read the old
    files, and is replaced; one of a newer revision never is."""


@dataclass
class _Opened:
    """The place of one converter, from before it is started until it is to end."""

    revision: int
    process: ConverterProcess | None = None
    """None until it is started."""
    started: threading.Event = field(default_factory=threading.Event)
    """Set too where it could not be started."""
    users: int = 1
    """Requests that hold it; it is not dropped for another trace meanwhile."""
    used_at: float = field(default_factory=time.monotonic)
    """When the last request ended."""
    superseded: bool = False
    """The trace changed, or the converter is gone: who waits asks the next one."""

    @property
    def resident_bytes(self) -> int:
        """What the converter takes of the machine's memory now."""
        return self.process.resident_bytes if self.process else 0


class ConverterPool:
    """Keeps at most `max_open` converters, within `total_bytes` of memory.

    All methods may be called by any thread. A trace that is not open yet takes the place of
    the least recently used one that nobody asks; where each is in use, the question waits for
    `wait_s`. What nobody uses is dropped after `idle_s`, or sooner where memory is short. One
    that is still reading its trace when nobody waits for it any more is ended after
    `abandoned_s`.
    """

    def __init__(
        self,
        max_open: int = 4,
        limits: Limits | None = None,
        *,
        total_bytes: int | None = None,
        wait_s: float = 30.0,
        idle_s: float = 600.0,
        abandoned_s: float = 2.0,
    ) -> None:
        self._max_open = max_open
        self._limits = limits
        self._total_bytes = total_bytes or usable_bytes() // 2
        self._wait_s = wait_s
        self._idle_s = idle_s
        self._abandoned_s = abandoned_s
        self._changed = threading.Condition()
        """Guards the fields below; never held while a converter starts or ends."""
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._places_taken = 0
        """By those in `_opened`, and by those that are ending."""
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
            opened = self._open(trace, still_wanted)
            try:
                opened.started.wait()
                if opened.process is not None:
                    return opened.process.ask(query, form, other_path, other_version, still_wanted)
            except ConverterError:
                if not opened.superseded:
                    raise
            finally:
                with self._changed:
                    opened.users -= 1
                    opened.used_at = time.monotonic()
                    self._changed.notify_all()

    def progress(self, path: str) -> float | None:
        """How much of a trace has been read, 0 to 1; None where it is not open."""
        with self._changed:
            opened = self._opened.get(path)
        process = opened.process if opened else None
        return process.progress if process and process.alive else None

    def close(self) -> None:
        """Ends all converters."""
        self._closed.set()
        with self._changed:
            gone = list(self._opened.values())
            self._opened.clear()
        self._end(gone)

    def _open(self, trace: TraceVersion, still_wanted: Callable[[], bool] | None) -> _Opened:
        """Returns the converter of a trace, with one user more; it may be starting still."""
        deadline = time.monotonic() + self._wait_s
        with self._changed:
            while True:
                opened = self._opened.get(trace.path)
                if opened is not None and not self._is_outdated(opened, trace):
                    opened.users += 1
                    self._opened.move_to_end(trace.path)
                    return opened
                if opened is not None:
                    opened.superseded = True
                    gone = [self._opened.pop(trace.path)]
                    break
                if self._places_taken < self._max_open:
                    self._places_taken += 1
                    gone = []
                    break
                if gone := self._take_least_used(how_many=1):
                    break
                self._check_waiting(deadline, still_wanted)
                self._changed.wait(_LOOK_AROUND_S)
            # Where one goes, its place is this one's from now on.
            opened = self._opened[trace.path] = _Opened(trace.revision)
        self._start(opened, trace, gone)
        return opened

    def _is_outdated(self, opened: _Opened, trace: TraceVersion) -> bool:
        is_dead = opened.process is not None and not opened.process.alive
        return is_dead or opened.revision < trace.revision

    def _check_waiting(self, deadline: float, still_wanted: Callable[[], bool] | None) -> None:
        if still_wanted is not None and not still_wanted():
            raise ConverterError("Nobody waits for this answer any more.", CODE_CANCELLED)
        if time.monotonic() >= deadline:
            raise ConverterError(
                f"{self._max_open} other traces are being read or asked about, and no more may"
                " be open at a time; ask again in a moment.",
                CODE_UNAVAILABLE,
            )

    def _start(self, opened: _Opened, trace: TraceVersion, instead_of: list[_Opened]) -> None:
        """Starts the converter of a place that was taken for it, once the place is free."""
        try:
            for each in instead_of:
                self._close(each)
            first_reading.complete(trace.path)
            # Who looks at a tab can set no flag: it shows what there is, and says what is missing.
            opened.process = ConverterProcess(trace.path, self._limits, allow_truncated=True)
            with self._changed:
                self._watch_idle_ones()
                gone = self._take_least_used(beyond_limits=True)
                if self._closed.is_set() and self._opened.get(trace.path) is opened:
                    gone.append(self._opened.pop(trace.path))
            self._end(gone)
        except BaseException:
            with self._changed:
                if self._opened.get(trace.path) is opened:
                    del self._opened[trace.path]
                    self._places_taken -= 1
            raise
        finally:
            opened.started.set()

    def _end(self, gone: list[_Opened]) -> None:
        """Ends converters that were taken out, and gives their places back."""
        for opened in gone:
            self._close(opened)
            with self._changed:
                self._places_taken -= 1
                self._changed.notify_all()

    def _close(self, opened: _Opened) -> None:
        opened.started.wait()
        with contextlib.suppress(OSError):
            if opened.process is not None:
                opened.process.close()

    def _take_least_used(self, *, how_many: int = 0, beyond_limits: bool = False) -> list[_Opened]:
        """Takes out converters that nobody asks now: so many, or those beyond the memory."""
        too_much = 0
        if beyond_limits:
            too_much = sum(each.resident_bytes for each in self._opened.values())
            too_much -= self._total_bytes
        gone: list[_Opened] = []
        for path, opened in list(self._opened.items()):
            if len(gone) >= how_many and too_much <= 0:
                break
            if not opened.users:
                too_much -= opened.resident_bytes
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
            with self._changed:
                gone = [path for path, each in self._opened.items() if self._is_left(each)]
                ended = [self._opened.pop(path) for path in gone]
                ended += self._take_least_used(beyond_limits=True)
            self._end(ended)

    def _is_left(self, opened: _Opened) -> bool:
        if opened.users or opened.process is None:
            return False
        idle_s = time.monotonic() - opened.used_at
        is_read = opened.process.progress >= 1.0
        return idle_s > (self._idle_s if is_read else self._abandoned_s)
