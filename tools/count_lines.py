"""Prints how many lines of program each room has, without tests, generated files and BUILD files.

tools/count_lines.py
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What each room should have at most.
AIMS = {
    "core": 0,
    "collector": 13_000,
    "converter": 26_000,
    "plugin": 10_000,
    "frontend": 12_000,
    "tools": 4_500,
}
PROGRAM = {".cc", ".h", ".py", ".ts", ".tsx", ".css", ".sh", ".bzl", ".sql", ""}
NOT_PROGRAM = re.compile(
    r"(_test\.(cc|py|h)|conftest\.py|\.test\.tsx?|_benchmark\.cc|_pb\.ts)$"
    r"|/(testing|benchmarks|fuzz|generated|node_modules|unity)/"
    r"|plugin/oom_forensics/datasets\.py|/(BUILD\.bazel|BUILD)$"
)


def lines_of(room: str) -> int:
    """Returns the lines of a room's program."""
    listed = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", room],
        cwd=ROOT,
        text=True,
    )
    files = [ROOT / file for file in listed.splitlines() if not NOT_PROGRAM.search(file)]
    programs = [file for file in files if file.suffix in PROGRAM and file.is_file()]
    return sum(len(file.read_bytes().splitlines()) for file in programs)


def main() -> None:
    """Prints a line a room."""
    print("\nlines of program     now     aim")
    for room, aim in AIMS.items():
        print(f"{room:<16}{lines_of(room):>8,}{f'{aim:,}' if aim else '':>8}")


if __name__ == "__main__":
    main()
