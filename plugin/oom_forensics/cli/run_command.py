"""`oom-forensics run -- python train.py`: runs a program, and says why it died.

Signals go on to the program, and its exit code is this command's (128 + N where signal N
ended it, as a shell has it). As process 1 of a container it also waits for orphans. If the
program dies without a message, its black box becomes a run, and its story is on stderr.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from oom_forensics.core.errors import OomForensicsError
from oom_forensics.logdir.black_boxes import folders_of_user, recover
from oom_forensics.trace.pages import output_of

EXIT_USAGE = 2
# As a shell says it.
_EXIT_NOT_FOUND = 127
_EXIT_NOT_EXECUTABLE = 126
_PASSED_ON = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
# A terminal sends these to the program as well.
_OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGWINCH)
_USAGE = "oom-forensics: name the program to run: oom-forensics run -- python train.py"
_HELP = """usage: oom-forensics run -- PROGRAM [ARGUMENT ...]

Runs a program and also watches the memory of NumPy and Python. If the program dies, explains why
on stderr. Passes signals on, and exits with the program's exit code (128 + N after signal N)."""


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "run"."""
    program = list(arguments[1:] if arguments[:1] == ["--"] else arguments)
    if arguments[:1] in (["-h"], ["--help"]):
        print(_HELP)
        return 0
    if not program or program[0].startswith("-"):
        print(_USAGE, file=sys.stderr)
        return EXIT_USAGE
    try:
        status, process = _run(program)
    except OSError as error:
        because = os.strerror(error.errno or 0)
        print(f"oom-forensics: {program[0]} cannot be run: {because}.", file=sys.stderr)
        found = not isinstance(error, FileNotFoundError)
        return _EXIT_NOT_EXECUTABLE if found else _EXIT_NOT_FOUND
    signaled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
    if signaled or code:
        _tell(f"{process}:{signaled}:{code}")
    return 128 + signaled if signaled else code


def _run(program: list[str]) -> tuple[int, int]:
    """Runs it to its end; returns the status that it left, and its process."""
    passed: list[int] = []
    child: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if number in _OF_TERMINAL and sys.stdin.isatty():
            return
        # One that comes before the program is there waits for it.
        if child:
            _send(child[0], number)
        else:
            passed.append(number)

    for which in (*_PASSED_ON, *_OF_TERMINAL):
        # What is ignored stays so, in the program too (nohup).
        if signal.getsignal(which) is not signal.SIG_IGN:
            signal.signal(which, pass_on)
    # Whoever starts a program so wants to know which line took the memory.
    environment = {"OOM_FORENSICS_HOST": "1", **os.environ}
    process = subprocess.Popen(program, env=environment)
    child.append(process.pid)
    for number in passed:
        _send(process.pid, number)
    while True:
        # As process 1 every orphan is ours to wait for.
        waited, status = os.waitpid(-1 if os.getpid() == 1 else process.pid, 0)
        if waited == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return status, waited


def _send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:  # it has ended
        return


def _tell(ended: str) -> None:
    """Prints the story of what the program left."""
    logdir = os.environ.get("OOM_FORENSICS_LOGDIR")
    folders = [*([Path(logdir)] if logdir else []), *folders_of_user()]
    runs = [run for folder in folders if folder.is_dir() for run in recover(folder, ended)]
    for run in runs:
        try:
            sys.stderr.write(output_of("report", run).decode())
        except OomForensicsError as error:
            print(f"oom-forensics: {error}", file=sys.stderr)
            return
        print(f"The whole story: oom-forensics report {run}", file=sys.stderr)
