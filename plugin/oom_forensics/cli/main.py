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
from collections.abc import Sequence
from typing import NoReturn

from oom_forensics.converter.binary import Converter, ConverterMissingError, find_converter
from oom_forensics.logdir import first_reading
from oom_forensics.remote.addresses import RemoteError, is_url

EXIT_UNREADABLE = 1
# Modules that need an extra, by the command that they are.
_OF_EXTRAS = {
    "fleet": ("fleet", "oom_forensics.fleet.fleet_command"),
    "fleet-report": ("fleet", "oom_forensics.fleet.report_command"),
    "metrics": ("metrics", "oom_forensics.live.metrics"),
    "mcp": ("mcp", "oom_forensics.agent.server"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; `arguments` are those after the program's name.

    Returns:
      The exit code: 0 done, 1 the input cannot be read, 2 wrong usage, 3 what
      `--fail-on` names was found.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "doctor":
        from oom_forensics.cli import doctor

        return doctor.main(arguments[1:])
    if arguments and arguments[0] == "run":
        from oom_forensics.cli import run_command

        return run_command.main(arguments[1:])
    if arguments and arguments[0] == "rehearse":
        from oom_forensics.cli import rehearse

        return rehearse.main(arguments[1:])
    if arguments and arguments[0] == "watch":
        from oom_forensics.live import watch

        return watch.main(arguments[1:])
    if arguments and arguments[0] == "gate":
        from oom_forensics.gate import gate_command

        return gate_command.main(arguments[1:])
    if arguments and arguments[0] == "view":
        from oom_forensics.cli import view

        return view.main(arguments[1:])
    if arguments and arguments[0] in _OF_EXTRAS:
        return _of_extra(arguments[0], arguments[1:])
    if arguments and arguments[0] == "runs":
        from oom_forensics.cli import run_list

        return run_list.main(arguments[1:])
    try:
        if any("://" in argument for argument in arguments):
            arguments = _with_local_paths(arguments)
        converter = find_converter()
        if missing := first_reading.complete_all_of(arguments[1:]):
            print(f"oom-forensics: {missing}", file=sys.stderr)
    except (ConverterMissingError, RemoteError) as error:
        print(f"oom-forensics: {error}", file=sys.stderr)
        return EXIT_UNREADABLE
    _become(converter, arguments)


def _of_extra(name: str, arguments: Sequence[str]) -> int:
    extra, module = _OF_EXTRAS[name]
    try:
        command = importlib.import_module(module)
    except ModuleNotFoundError as error:
        print(
            f"oom-forensics: {name} needs {error.name}, which is not installed:"
            f" pip install 'oom-forensics[{extra}]'",
            file=sys.stderr,
        )
        return EXIT_UNREADABLE
    code: int = command.main(arguments)
    return code


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
