"""The `oom-forensics` command.

Everything about traces is answered by the converter, which replaces this process
so that signals, pipes and exit codes are its own (as WebAssembly it runs in this process).
`doctor` asks the TensorFlow that is installed beside this package, `rehearse` runs the user's
program with it, `fleet` runs on Apache Spark, `runs` lists a logdir as the tab does, and what lies
at a URL is copied here first; these are therefore Python.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from oom_forensics.converter.binary import Converter, find_converter
from oom_forensics.core.commands import exit_code_of
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.logdir import first_reading
from oom_forensics.remote.addresses import is_url

# The commands that are Python's own, and the extra that one needs.
_COMMANDS = {
    "doctor": ("oom_forensics.cli.doctor", ""),
    "fleet": ("oom_forensics.fleet.fleet_command", "fleet"),
    "fleet-report": ("oom_forensics.fleet.report_command", "fleet"),
    "gate": ("oom_forensics.gate.gate_command", ""),
    "mcp": ("oom_forensics.agent.server", "mcp"),
    "metrics": ("oom_forensics.live.metrics", "metrics"),
    "rehearse": ("oom_forensics.cli.rehearse", ""),
    "run": ("oom_forensics.cli.run_command", ""),
    "runs": ("oom_forensics.cli.run_list", ""),
    "view": ("oom_forensics.cli.view", ""),
    "watch": ("oom_forensics.live.watch", ""),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; `arguments` are those after the program's name.

    Returns:
      The exit code: 0 done, 1 the input cannot be read, 2 wrong usage, 3 what
      `--fail-on` names was found.
    """
    words = sys.argv[1:] if arguments is None else arguments
    return exit_code_of(lambda: _main(words))


def _main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in _COMMANDS:
        return _python_command(arguments[0])(arguments[1:])
    if any("://" in argument for argument in arguments):
        arguments = _with_local_paths(arguments)
    converter = find_converter()
    if missing := first_reading.complete_all_of(arguments[1:]):
        print(f"oom-forensics: {missing}", file=sys.stderr)
    _become(converter, arguments)


def _python_command(name: str) -> Callable[[Sequence[str]], int]:
    module, extra = _COMMANDS[name]
    try:
        command: Callable[[Sequence[str]], int] = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        if not extra:
            raise
        raise OomForensicsError(
            f"{name} needs {error.name}, which is not installed:"
            f" pip install 'oom-forensics[{extra}]'"
        ) from None
    return command


def _with_local_paths(arguments: Sequence[str]) -> list[str]:
    """Copies the runs at URLs to this machine; returns the arguments with their folders.

    Raises:
      RemoteError: one cannot be read; the sentence says why.
    """
    from oom_forensics.logdir.runs import find_remote_run

    local = list(arguments)
    for path_flag, run_flag in (("", "--run"), ("--other-path", "--other-run")):
        if _url_at(local, path_flag) is None:
            continue
        name = _take_flag(local, run_flag)
        # What was taken may have stood before it.
        at = _url_at(local, path_flag)
        if at is None:
            continue
        flag, url = _split_flag(local[at])
        if sys.stderr.isatty():
            print(f"reading {url}", file=sys.stderr)
        folder = find_remote_run(url, name).fetch()
        local[at] = f"{flag}={folder}" if flag else folder
    return local


def _split_flag(argument: str) -> tuple[str, str]:
    """("--name", value) of "--name=value"; ("", argument) of what is no flag."""
    if argument.startswith("--") and "=" in argument:
        name, _, value = argument.partition("=")
        return name, value
    return "", argument


def _url_at(arguments: Sequence[str], path_flag: str) -> int | None:
    """Where the URL stands that is a flag's value, or (no flag given) the command's PATH."""
    for index, argument in enumerate(arguments):
        flag, value = _split_flag(argument)
        before = arguments[index - 1] if index else ""
        # Of other flags none takes a path, but -o, which writes.
        if not flag and before.startswith("-") and "=" not in before:
            flag = before if before in ("--other-path", "-o") else ""
        if flag == path_flag and is_url(value):
            return index
    return None


def _take_flag(arguments: list[str], flag: str) -> str:
    """Removes a flag; returns its value, empty where it was not given."""
    for index, argument in enumerate(arguments):
        if argument.startswith(flag + "="):
            del arguments[index]
            return argument.partition("=")[2]
        if argument == flag and index + 1 < len(arguments):
            value = arguments[index + 1]
            del arguments[index : index + 2]
            return value
    return ""


def _become(converter: Converter, arguments: Sequence[str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    words = converter.words(arguments)
    if converter.is_native:
        os.execv(converter.program, ["oom-forensics", *words])
    # wasmtime is imported only by who needs it.
    from oom_forensics.webassembly.program import become

    become(words)
