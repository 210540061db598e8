"""What the commands have in common: how they say what went wrong, and in which form they answer."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from oom_forensics.core.errors import OomForensicsError

EXIT_UNREADABLE = 1


def exit_code_of(command: Callable[[], int]) -> int:
    """Runs a command; returns its exit code, or says in one sentence why there is none."""
    try:
        return command()
    except OomForensicsError as error:
        print(f"oom-forensics: {error}", file=sys.stderr)
        return EXIT_UNREADABLE


def add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    """Adds `--format`, the first one is the default, and `--json` for `--format=json`."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--format", choices=formats, default=formats[0])
    either.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="the same as --format=json",
    )


def write_text(file: Path, text: str) -> None:
    """Writes an answer into a file.

    Raises:
      OomForensicsError: It cannot be written.
    """
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        because = os.strerror(error.errno or 0)
        raise OomForensicsError(f"Cannot write {file}: {because}.") from None
