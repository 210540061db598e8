"""One converter as a child process, and the protocol spoken with it.

`oom-forensics serve PATH` reads one trace, keeps it in memory and answers requests
over its stdin and stdout. The frames are those of proto/service.proto:

    request   u32 length, JSON            (lengths are little-endian)
    response  u32 length, JSON,  u32 length, body

Any number of threads may ask at the same time: a thread of our own reads the answers
and gives each to the one whose id it bears. Who stops waiting (an interrupt, a browser
that went away) cancels only their own request.

A trace is untrusted input. The child is limited in memory and in the time that it
may stay silent; whatever happens to it, the caller gets one sentence and can start
another.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from oom_forensics.converter.binary import MEMORY_VARIABLE, find_converter
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.core.machine_memory import usable_bytes

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

BodyFormat = Literal["protobuf", "json", "csv"]

_LENGTH = struct.Struct("<I")
_MAX_QUERY_BYTES = 1_000_000
"""The converter takes frames of 1 MiB."""
_MAX_HEADER_BYTES = 1 << 20
_MAX_BODY_BYTES = 1 << 30
MAX_WAITING = 512
"""Requests that may wait for one converter; more are refused."""
_STDERR_TAIL_BYTES = 4096
_LOOK_AROUND_S = 0.1
"""How often someone who waits looks whether they still should."""
# The program, its libraries, and its threads' stacks and arenas, of which most is never touched: a
# process that cannot even grow its stack dies of a signal.
_PROGRAM_BYTES = 256 << 20
# Codes of absl::StatusCode that the plugin gives a meaning to.
CODE_CANCELLED = 1
CODE_INVALID_ARGUMENT = 3
CODE_NOT_FOUND = 5
CODE_RESOURCE_EXHAUSTED = 8
CODE_UNIMPLEMENTED = 12
CODE_UNAVAILABLE = 14
CODE_DATA_LOSS = 15


class ConverterError(OomForensicsError):
    """An answer could not be given; the message is one sentence for the user."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code
        """The absl::StatusCode that says what sort of error it is."""


@dataclass(frozen=True)
class Limits:
    """What a converter may use."""

    memory_bytes: int
    """Resident memory beyond the mapped trace itself."""
    silence_s: float
    """How long it may work without an answer or a sign of progress."""


def default_limits() -> Limits:
    """A quarter of the usable memory (1 GiB at least) and two minutes.

    The environment variables OOM_FORENSICS_CONVERTER_MEMORY_MIB and
    OOM_FORENSICS_CONVERTER_SILENCE_S change them.
    """
    memory_bytes = max(usable_bytes() // 4, 1 << 30)
    memory_mib = _positive_number("OOM_FORENSICS_CONVERTER_MEMORY_MIB")
    silence_s = _positive_number("OOM_FORENSICS_CONVERTER_SILENCE_S")
    return Limits(int(memory_mib * 2**20) or memory_bytes, silence_s or 120.0)


def _positive_number(variable: str) -> float:
    try:
        return max(float(os.environ.get(variable, "0")), 0.0)
    except ValueError:
        return 0.0


@dataclass
class _Waiting:
    """A request that has not been answered yet."""

    answered: threading.Event = field(default_factory=threading.Event)
    body: bytes = b""
    error: ConverterError | None = None


class ConverterProcess:
    """A converter that has one trace open. All methods may be called by any thread."""

    def __init__(
        self, trace: str, limits: Limits | None = None, *, allow_truncated: bool = False
    ) -> None:
        """Starts the converter on a trace file, a run's folder or a logdir.

        Args:
          trace: its path.
          limits: what the converter may use.
          allow_truncated: reads a file that is cut off up to the cut, instead of refusing it.

        Raises:
          ConverterMissingError: the package holds no converter.
        """
        self._converter = find_converter()
        self._limits = limits or default_limits()
        self._lock = threading.Lock()
        """Guards the fields below; never held while the pipes are used."""
        self._waiting: dict[int, _Waiting] = {}
        self._next_id = 1
        self._end: ConverterError | None = None
        """Why it cannot answer any more."""
        self._last_sign = time.monotonic()
        self._progress = 0.0
        self._sending = threading.Lock()
        self._mapped_bytes = _mapped_bytes(trace)
        memory_mib = self._limits.memory_bytes >> 20
        # A file, not a pipe: nobody has to drain it while the converter works.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115, closed in close()
        self._child = subprocess.Popen(
            self._converter.command(
                "serve",
                trace,
                f"--max-memory-mb={memory_mib}",
                *(["--allow-truncated"] if allow_truncated else []),
            ),
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            # Ctrl-C in a terminal or a notebook is for who asks, who goes on asking.
            start_new_session=True,
        )
        self._requests = cast(BinaryIO, self._child.stdin)
        self._answers = cast(BinaryIO, self._child.stdout)
        self._limit_address_space(self._mapped_bytes)
        self._reader = threading.Thread(
            target=self._read_answers, name="oom-forensics answers", daemon=True
        )
        self._reader.start()

    @property
    def progress(self) -> float:
        """How much of the trace has been read, 0 to 1."""
        return self._progress

    @property
    def alive(self) -> bool:
        """Whether it can still answer."""
        return self._end is None and self._child.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Of the converter, once it has ended; negative: the signal that ended it."""
        return self._child.poll()

    @property
    def resident_bytes(self) -> int:
        """What it takes of the machine's memory now; 0 where the system does not say."""
        try:
            pages = Path(f"/proc/{self._child.pid}/statm").read_text().split()
        except OSError:
            return 0
        # Resident less shared: a mapped trace is the system's to take back.
        return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")

    def ask(
        self,
        query: dict[str, Any],
        form: BodyFormat = "protobuf",
        other_trace: str = "",
        other_version: str = "",
        still_wanted: Callable[[], bool] | None = None,
    ) -> bytes:
        """Returns the dataset that `query`, the JSON of a proto Query, asks for.

        Args:
          query: canonical protobuf JSON of an `oom_forensics.Query`.
          form: how the dataset is written.
          other_trace: for COMPARE, the path of the second trace.
          other_version: changes whenever the files of the second trace do.
          still_wanted: asked now and then while waiting; once it says False the request
            is cancelled.

        Raises:
          ConverterError: it cannot be answered; the sentence says why.
        """
        text = json.dumps(query)
        if len(json.dumps(text)) > _MAX_QUERY_BYTES:
            raise ConverterError("The question is too long.", CODE_INVALID_ARGUMENT)
        request: dict[str, Any] = {"query": text, "format": form.upper()}
        if other_trace:
            request["otherPath"] = other_trace
            request["otherVersion"] = other_version
            self._limit_address_space(self._mapped_bytes + _mapped_bytes(other_trace))
        number, waiting = self._enrol()
        try:
            self._send({"id": number, **request})
            while not waiting.answered.wait(_LOOK_AROUND_S):
                if still_wanted is not None and not still_wanted():
                    raise ConverterError("Nobody waits for this answer any more.", CODE_CANCELLED)
                self._stop_if_silent()
        except BaseException:
            # A KeyboardInterrupt too: the answer may still come, and is nobody's then.
            self._cancel(number)
            raise
        if waiting.error is not None:
            raise waiting.error
        return waiting.body

    def abandon(self) -> None:
        """Ends the converter without waiting for it; for who may hold any lock."""
        self._child.kill()

    def close(self) -> None:
        """Ends the converter; whoever waits for an answer gets an error."""
        self._finish(ConverterError("The converter was closed.", CODE_CANCELLED))
        self._kill()
        self._reader.join()
        with self._sending, contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        self._stderr.close()

    def _enrol(self) -> tuple[int, _Waiting]:
        """Makes room for the answer to a new request, which gets the number returned."""
        with self._lock:
            if self._end is not None:
                raise self._end
            if len(self._waiting) >= MAX_WAITING:
                raise ConverterError(
                    "Too many questions wait for this trace; ask again in a moment.",
                    CODE_UNAVAILABLE,
                )
            if not self._waiting:
                self._last_sign = time.monotonic()
            number = self._next_id
            self._next_id += 1
            waiting = _Waiting()
            self._waiting[number] = waiting
            return number, waiting

    def _cancel(self, number: int) -> None:
        with contextlib.suppress(ConverterError):
            self._send({"cancel": number})

    def _send(self, message: dict[str, Any]) -> None:
        frame = json.dumps(message).encode()
        with self._sending:
            try:
                self._requests.write(_LENGTH.pack(len(frame)) + frame)
                self._requests.flush()
            except (BrokenPipeError, ValueError):  # ValueError: closed
                broken = True
            else:
                broken = False
        if broken:
            # The reader finds out why.
            self._reader.join(timeout=5)
            raise self._end or self._death()

    def _stop_if_silent(self) -> None:
        with self._lock:
            silent_s = time.monotonic() - self._last_sign
        if silent_s < self._limits.silence_s:
            return
        self._finish(
            ConverterError(
                f"The converter was stopped after {self._limits.silence_s:.0f} s without an"
                " answer; ask for a shorter time range, or give it more time with"
                " OOM_FORENSICS_CONVERTER_SILENCE_S.",
                CODE_RESOURCE_EXHAUSTED,
            )
        )
        self._kill()

    def _read_answers(self) -> None:
        """Gives each answer to the one who asked, until the converter has ended."""
        try:
            while True:
                header = _read_block(self._answers, _MAX_HEADER_BYTES)
                body = _read_block(self._answers, _MAX_BODY_BYTES)
                self._hand_over(json.loads(header), body)
        except EOFError:
            self._finish(self._death())
        except Exception:
            self._finish(
                ConverterError(
                    "The converter answered with something that is not an answer; its"
                    " version and that of the Python package differ: install the package"
                    " again.",
                    CODE_UNAVAILABLE,
                )
            )
            self._kill()

    def _hand_over(self, response: dict[str, Any], body: bytes) -> None:
        with self._lock:
            self._last_sign = time.monotonic()
        if response.get("partial"):
            self._progress = float(response.get("progress", 0.0))
            return
        number = int(response.get("id", 0))
        error = response.get("error")
        if number == 0 and error:
            # Of the trace as a whole: it ends now, and its last words say the same.
            return
        with self._lock:
            waiting = self._waiting.pop(number)  # KeyError: nobody asked that
        self._progress = 1.0
        waiting.body = body
        if error:
            waiting.error = ConverterError(error, int(response.get("code", 0)))
        waiting.answered.set()

    def _finish(self, error: ConverterError) -> None:
        """Nothing is answered any more; the first reason is the one that is told."""
        with self._lock:
            self._end = self._end or error
            left = list(self._waiting.values())
            self._waiting.clear()
        for waiting in left:
            waiting.error = self._end
            waiting.answered.set()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._child.kill()
        self._child.wait()

    def _environment(self) -> dict[str, str]:
        """The module has no mapped files: what it reads lies in its memory, too."""
        wall_bytes = self._limits.memory_bytes * 3 // 2 + self._mapped_bytes
        return {MEMORY_VARIABLE: str(wall_bytes >> 20), **os.environ}

    def _limit_address_space(self, mapped_bytes: int) -> None:
        """The converter keeps to its limit by itself; this is the wall behind it."""
        if not self._converter.is_native:
            return  # Its memory is limited, in a large space of addresses.
        limit = _PROGRAM_BYTES + self._limits.memory_bytes * 3 // 2 + mapped_bytes
        prlimit = getattr(resource, "prlimit", None)  # Linux only
        if prlimit is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                _, most = prlimit(self._child.pid, resource.RLIMIT_AS)
                if most != resource.RLIM_INFINITY:
                    limit = min(limit, most)
                prlimit(self._child.pid, resource.RLIMIT_AS, (limit, most))

    def _death(self) -> ConverterError:
        """Returns why the child is gone, as one sentence."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=5)
        self._kill()
        code = self._child.returncode
        said = self._last_words()
        if code == 1 and said:
            return ConverterError(said, CODE_DATA_LOSS)
        how = _signal_name(-code) if code < 0 else f"exit code {code}"
        mib = self._limits.memory_bytes >> 20
        return ConverterError(
            f"The converter ended unexpectedly ({how}) and will be started again with"
            f" the next request; if this trace needs more than its {mib} MiB of memory,"
            " raise OOM_FORENSICS_CONVERTER_MEMORY_MIB.",
            CODE_UNAVAILABLE,
        )

    def _last_words(self) -> str:
        if self._stderr.closed:
            return ""
        end = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, end - _STDERR_TAIL_BYTES))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("oom-forensics: ") if lines else ""


def _read_block(stream: BinaryIO, max_bytes: int) -> bytes:
    """Returns the next length-prefixed block; EOFError where the stream has ended."""
    (length,) = _LENGTH.unpack(_read_exactly(stream, _LENGTH.size))
    if length > max_bytes:
        raise ValueError(f"a block of {length} bytes")
    return _read_exactly(stream, length)


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _mapped_bytes(trace: str) -> int:
    """The size of the files that the converter maps; they are not memory it takes."""
    path = Path(trace)
    files = path.rglob("*.xplane.pb") if path.is_dir() else [path]
    with contextlib.suppress(OSError):
        return sum(file.stat().st_size for file in files)
    return 0
