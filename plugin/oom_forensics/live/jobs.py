"""Finds the running jobs of this user that have a collector, and asks them.

A collector listens at a socket of Linux's abstract namespace, `@oom_forensics-<pid>`
(collector/live/live_server.h), and answers processes of its own user.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oom_forensics.core.errors import OomForensicsError

_PREFIX = "@oom_forensics-"
_ANSWER_S = 10.0
_SNAPSHOT_S = 60.0
_CREDENTIALS = struct.Struct("3i")


class LiveError(OomForensicsError):
    """A job cannot be asked; the message is one sentence."""


class LiveProcess:
    """A running job. Closes its socket as a context manager."""

    def __init__(self, pid: int) -> None:
        """Connects to a process.

        Raises:
          LiveError: There is none, it has no collector, or it is another user's.
        """
        self.pid = pid
        self._received = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_ANSWER_S)
        try:
            self._socket.connect(f"\0oom_forensics-{pid}")
            # Anyone may take a name in that namespace.
            peer = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            peer_pid, peer_user, _ = _CREDENTIALS.unpack(peer)
        except OSError:
            self.close()
            raise LiveError(_why_not(pid)) from None
        # In a container the kernel knows the process by another number than its host does.
        if peer_user not in (os.geteuid(), 0) or peer_pid not in (pid, 0):
            self.close()
            raise LiveError(f"Something else answers for process {pid}; it is not asked.")

    def __enter__(self) -> LiveProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def state(self, timeout_s: float = _ANSWER_S) -> dict[str, Any]:
        """How the job is doing: allocators, step, growth, time until it will not fit.

        Raises:
          LiveError: It ended, or does not answer.
        """
        return self._ask("state", timeout_s)

    def snapshot(self, folder: Path) -> Path:
        """Has the job write a snapshot into `folder`; returns the run's folder.

        Raises:
          LiveError: It ended, does not answer, or cannot write there.
        """
        answer = self._ask(f"snapshot {folder.absolute()}", _SNAPSHOT_S)
        if "error" in answer:
            raise LiveError(f"Process {self.pid} wrote no snapshot: {answer['error']}.")
        return Path(answer["folder"])

    def _ask(self, question: str, timeout_s: float) -> dict[str, Any]:
        self._socket.settimeout(timeout_s)
        try:
            self._socket.sendall(question.encode() + b"\n")
            while b"\n" not in self._received:
                received = self._socket.recv(1 << 16)
                if not received:
                    raise LiveError(f"Process {self.pid} has ended, or serves others.")
                self._received += received
        except TimeoutError:
            raise LiveError(f"Process {self.pid} has not answered for {timeout_s:.0f} s.") from None
        except OSError:
            raise LiveError(f"Process {self.pid} has ended.") from None
        line, _, self._received = self._received.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


def live_pids() -> list[int]:
    """The processes of this machine that can be asked, the newest first."""
    try:
        names = Path("/proc/net/unix").read_text(errors="surrogateescape").split()
    except OSError:
        return []
    pids = {
        int(name.removeprefix(_PREFIX))
        for name in names
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isdigit()
    }
    return sorted((pid for pid in pids if Path(f"/proc/{pid}").exists()), reverse=True)


def live_processes(
    timeout_s: float = _ANSWER_S,
) -> Iterator[tuple[LiveProcess, dict[str, Any]]]:
    """Asks each of them once: the connection, and its state. Those of others are passed over."""
    for pid in live_pids():
        with contextlib.suppress(LiveError), LiveProcess(pid) as process:
            yield process, process.state(timeout_s)


def find_process(target: str) -> int:
    """Returns the process that "1234", a logdir, or "" (the newest one) means.

    Raises:
      LiveError: There is none.
    """
    if target.isdigit():
        return int(target)
    wanted = os.path.realpath(target) if target else ""
    for process, state in live_processes():
        if not target or os.path.realpath(folder_of(process.pid, state)) == wanted:
            return process.pid
    which = f" that reports to {target}" if target else ""
    raise LiveError(
        f"No running job with a collector{which} was found; `oom-forensics doctor`"
        " says whether one would be recorded here."
    )


def command_of(pid: int) -> str:
    """The command line of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode(errors="replace")
            .strip()
        )
    return ""


def folder_of(pid: int, state: dict[str, Any]) -> str:
    """Its logdir, as seen from here: a relative path is its working directory's."""
    logdir = str(state.get("logdir", ""))
    with contextlib.suppress(OSError):
        return os.path.join(os.readlink(f"/proc/{pid}/cwd"), logdir)
    return logdir


def _why_not(pid: int) -> str:
    if not Path(f"/proc/{pid}").exists():
        return f"There is no process {pid}."
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid():
            return f"Process {pid} belongs to another user."
    except OSError:
        return f"Process {pid} has ended."
    return (
        f"Process {pid} cannot be watched: it has no collector, or was started with"
        " OOM_FORENSICS_LIVE=0."
    )
