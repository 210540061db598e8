"""The `oom-forensics` command.

Everything about traces is answered by the converter, which replaces this process
so that signals, pipes and exit codes are its own. `doctor` asks the TensorFlow
that is installed beside this package, `rehearse` runs the user's program with it, `fleet` runs
on Apache Spark; they are therefore Python.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from oom_forensics.converter_binary import ConverterMissingError, converter_path

EXIT_UNREADABLE = 1
# Modules that need the extra `fleet`, by the command that they are.
_FLEET = {"fleet": "command", "fleet-report": "report_command"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; `arguments` are those after the program's name.

    Returns:
      The exit code: 0 done, 1 the input cannot be read, 2 wrong usage, 3 what
      `--fail-on` names was found.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "doctor":
        from oom_forensics import doctor

        return doctor.main(arguments[1:])
    if arguments and arguments[0] == "rehearse":
        from oom_forensics import rehearsal

        return rehearsal.main(arguments[1:])
    if arguments and arguments[0] in _FLEET:
        return _fleet(arguments[0], arguments[1:])
    try:
        program = str(converter_path())
    except ConverterMissingError as error:
        print(f"oom-forensics: {error}", file=sys.stderr)
        return EXIT_UNREADABLE
    _become(program, arguments)


def _fleet(name: str, arguments: Sequence[str]) -> int:
    try:
        command = importlib.import_module(f"oom_forensics.fleet.{_FLEET[name]}")
    except ModuleNotFoundError as error:
        print(
            f"oom-forensics: {name} needs {error.name}, which is not installed:"
            " pip install 'oom-forensics[fleet]'",
            file=sys.stderr,
        )
        return EXIT_UNREADABLE
    code: int = command.main(arguments)
    return code


def _become(program: str, arguments: Sequence[str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(program, ["oom-forensics", *arguments])
