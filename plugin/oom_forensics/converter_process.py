"""One converter as a child process, and the protocol spoken with it.

`oom-forensics serve PATH` reads one trace, keeps it in memory and answers requests
over its stdin and stdout. The frames are those of proto/service.proto:

    request   u32 length, JSON            (lengths are little-endian)
    response  u32 length, JSON,  u32 length, body

A trace is untrusted input. The child is limited in memory and in the time that it
may stay silent; whatever happens to it, the caller gets one sentence and can start
another.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from oom_forensics.converter_binary import converter_path

BodyFormat = Literal["protobuf", "json", "csv"]

_LENGTH = struct.Struct("<I")
_MAX_HEADER_BYTES = 1 << 20
_MAX_BODY_BYTES = 1 << 30
_STDERR_TAIL_BYTES = 4096
# Codes of absl::StatusCode that the plugin gives a meaning to.
CODE_INVALID_ARGUMENT = 3
CODE_NOT_FOUND = 5
CODE_RESOURCE_EXHAUSTED = 8
CODE_ABORTED = 10
CODE_UNIMPLEMENTED = 12
CODE_UNAVAILABLE = 14
CODE_DATA_LOSS = 15


class ConverterError(Exception):
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
    """A quarter of the machine's memory (1 GiB at least) and two minutes.

    The environment variables OOM_FORENSICS_CONVERTER_MEMORY_MIB and
    OOM_FORENSICS_CONVERTER_SILENCE_S change them.
    """
    machine_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory_bytes = max(machine_bytes // 4, 1 << 30)
    memory_mib = _positive_number("OOM_FORENSICS_CONVERTER_MEMORY_MIB")
    silence_s = _positive_number("OOM_FORENSICS_CONVERTER_SILENCE_S")
    return Limits(int(memory_mib * 2**20) or memory_bytes, silence_s or 120.0)


def _positive_number(variable: str) -> float:
    try:
        return max(float(os.environ.get(variable, "0")), 0.0)
    except ValueError:
        return 0.0


class ConverterProcess:
    """A converter that has one trace open. All methods may be called by any thread."""

    def __init__(self, trace: str, limits: Limits | None = None) -> None:
        """Starts the converter on a trace file, a run's folder or a logdir.

        Raises:
          ConverterMissingError: the package holds no converter.
        """
        self._limits = limits or default_limits()
        self._asking = threading.Lock()
        self._next_id = 1
        self._progress = 0.0
        self._cancelled = False
        memory_mib = self._limits.memory_bytes >> 20
        # A file, not a pipe: nobody has to drain it while the converter works.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115, closed in close()
        self._child = subprocess.Popen(
            [str(converter_path()), "serve", trace, f"--max-memory-mb={memory_mib}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
        )
        # The converter keeps to its limit by itself and says so in a sentence; this
        # is the wall behind it.
        limit = self._limits.memory_bytes * 3 // 2 + _mapped_bytes(Path(trace))
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self._child.pid, resource.RLIMIT_AS, (limit, limit))

    @property
    def progress(self) -> float:
        """How much of the trace has been read, 0 to 1."""
        return self._progress

    @property
    def alive(self) -> bool:
        """Whether it can still answer."""
        return self._child.poll() is None

    def ask(
        self,
        query: dict[str, Any],
        form: BodyFormat = "protobuf",
        other_trace: str = "",
    ) -> bytes:
        """Returns the dataset that `query`, the JSON of a proto Query, asks for.

        Args:
          query: canonical protobuf JSON of an `oom_forensics.Query`.
          form: how the dataset is written.
          other_trace: for COMPARE, the path of the second trace.

        Raises:
          ConverterError: it cannot be answered; the sentence says why.
        """
        with self._asking:
            request: dict[str, Any] = {
                "id": self._next_id,
                "query": query,
                "format": form.upper(),
            }
            if other_trace:
                request["otherPath"] = other_trace
            self._next_id += 1
            self._send(json.dumps(request).encode())
            while True:
                response, body = self._receive()
                if response.get("partial"):
                    self._progress = float(response.get("progress", 0.0))
                    continue
                self._progress = 1.0
                if response.get("error"):
                    code = int(response.get("code", 0))
                    raise ConverterError(response["error"], code)
                return body

    def cancel(self) -> None:
        """Ends the work in hand; whoever waits for it gets an error."""
        self._cancelled = True
        self._kill()

    def close(self) -> None:
        """Ends the converter."""
        self._kill()
        with self._asking:
            for pipe in (self._child.stdin, self._child.stdout, self._stderr):
                if pipe is not None:
                    pipe.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._child.kill()
        self._child.wait()

    def _send(self, message: bytes) -> None:
        if self._child.stdin is None or self._child.stdin.closed:
            raise self._death()
        try:
            self._child.stdin.write(_LENGTH.pack(len(message)) + message)
        except BrokenPipeError:
            raise self._death() from None

    def _receive(self) -> tuple[dict[str, Any], bytes]:
        deadline = time.monotonic() + self._limits.silence_s
        header = self._read_block(_MAX_HEADER_BYTES, deadline)
        body = self._read_block(_MAX_BODY_BYTES, deadline)
        response = json.loads(header)
        if not isinstance(response, dict):
            raise self._broken_protocol()
        return response, body

    def _read_block(self, max_bytes: int, deadline: float) -> bytes:
        (length,) = _LENGTH.unpack(self._read_exactly(_LENGTH.size, deadline))
        if length > max_bytes:
            raise self._broken_protocol()
        return self._read_exactly(length, deadline)

    def _read_exactly(self, count: int, deadline: float) -> bytes:
        stdout = self._child.stdout
        if stdout is None or stdout.closed:
            raise self._death()
        poll = select.poll()
        poll.register(stdout, select.POLLIN)
        parts = bytearray()
        while len(parts) < count:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                self._kill()
                raise ConverterError(
                    f"The converter was stopped after {self._limits.silence_s:.0f} s"
                    " without an answer; ask for a shorter time range, or give it"
                    " more time with OOM_FORENSICS_CONVERTER_SILENCE_S.",
                    CODE_RESOURCE_EXHAUSTED,
                )
            block = os.read(stdout.fileno(), count - len(parts))
            if not block:
                raise self._death()
            parts += block
        return bytes(parts)

    def _broken_protocol(self) -> ConverterError:
        self._kill()
        return ConverterError(
            "The converter answered with something that is not an answer; its version"
            " and that of the Python package differ: install the package again.",
            CODE_UNAVAILABLE,
        )

    def _death(self) -> ConverterError:
        """Returns why the child is gone, as one sentence."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=5)
        self._kill()
        if self._cancelled:
            return ConverterError("The work was cancelled.", CODE_ABORTED)
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


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _mapped_bytes(trace: Path) -> int:
    """The size of the files that the converter maps; they are not memory it takes."""
    files = trace.rglob("*.xplane.pb") if trace.is_dir() else [trace]
    with contextlib.suppress(OSError):
        return sum(file.stat().st_size for file in files)
    return 0
