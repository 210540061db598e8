"""The interactive prompt: its lines are told with their text where Python keeps that.

A line is typed at the real prompt of each interpreter, at a terminal of its own; what a
report says of such a line comes from `line_texts`, which needs no TensorFlow.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "plugin/oom_forensics/in_training/source"
TYPED = (
    f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from line_texts import text_of",
    "def here(): at = sys._getframe(1); return at.f_lineno, text_of(at.f_code.co_filename, "
    "at.f_lineno)",
    "",
    "print('TOLD', here())  # typed",
    "def work():",
    "    return here()  # in a function",
    "",
    "print('TOLD', work())",
    "exit()",
)
LIMIT_S = 60.0


def typed_at(python: str, *, plain: bool) -> list[tuple[str, str]]:
    """What the two lines were told as: number and text."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "dumb" if plain else "xterm"}
    environment.pop("PYTHONSTARTUP", None)
    with subprocess.Popen(
        [python, "-q"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
    ) as prompt:
        os.close(slave)
        shown = ""
        try:
            for line in TYPED:
                shown += _until(master, r">>> |\.\.\. ")
                os.write(master, f"{line}\n".encode())
            shown += _until(master, None)
        finally:
            os.close(master)
            if prompt.poll() is None:
                prompt.kill()
    return re.findall(r"TOLD \((\d+), (?:'|\")(.*?)(?:'|\")\)\r", shown)


def _until(terminal: int, expected: str | None) -> str:
    """What a terminal shows until that appears; None: until it is closed."""
    shown = ""
    end_s = time.monotonic() + LIMIT_S
    while time.monotonic() < end_s:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            read = os.read(terminal, 65536)
        except OSError:
            return shown
        shown += read.decode(errors="replace")
        if not read or (expected is not None and re.search(expected, shown)):
            return shown
    pytest.fail(f"the prompt did not answer within {LIMIT_S:.0f} s: {shown}")


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12"])
def test_before_3_13_there_is_only_the_number(
    version: str, interpreter: Callable[[str], str]
) -> None:
    assert typed_at(interpreter(version), plain=True) == [("1", ""), ("2", "")]


@pytest.mark.parametrize("plain", [True, False])
def test_since_3_13_the_text_is_there_too(plain: bool, interpreter: Callable[[str], str]) -> None:
    assert typed_at(interpreter("3.13"), plain=plain) == [
        ("1", "print('TOLD', here())  # typed"),
        ("2", "return here()  # in a function"),
    ]
