"""How many tests passed, failed and were skipped."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Tally:
    """Counts of test cases."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Returns the counts of both together."""
        return Tally(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
        )

    def __str__(self) -> str:
        """Returns `N passed, N failed`, and `, N skipped` where some were."""
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def read_junit(path: Path) -> Tally:
    """Counts the test cases of a JUnit XML file (GoogleTest, pytest, vitest).

    A file that is missing or broken is one failed test: its runner died.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return Tally(failed=1)
    tally = Tally()
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            tally += Tally(failed=1)
        elif (
            case.find("skipped") is not None
            or case.get("status") == "notrun"
            or case.get("result") == "skipped"
        ):
            tally += Tally(skipped=1)
        else:
            tally += Tally(passed=1)
    return tally
