"""The jobs of `tests/jobs`: plain scripts, and in `truth.json` what is true of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "jobs"


class Job(NamedTuple):
    """A script that runs out of memory, and what is to be said of it."""

    name: str
    # Size of the pool that TensorFlow gets.
    limit_mib: int
    # Kinds of verdict that are right; the first is the best.
    verdicts: list[str]
    # Why it runs out of memory, for a person.
    because: str
    # Kinds of remedy that a person would name, and the script's option for each;
    # "{batch_size}" and the like are filled in from the remedy.
    options: dict[str, str]
    # Whether something other than more memory makes it run.
    curable: bool = True
    # Of a job that was put together: options beside those of a remedy, which come later.
    arguments: tuple[str, ...] = ()
    # The script's name; empty: the job's.
    source: str = ""

    @property
    def script(self) -> Path:
        """The file to run."""
        return FOLDER / f"{self.source or self.name}.py"


def read_corpus() -> list[Job]:
    """Returns all jobs, in the order of `truth.json`."""
    truth: dict[str, dict[str, Any]] = json.loads((FOLDER / "truth.json").read_text())
    return [
        Job(
            name,
            said["limit_mib"],
            said["verdicts"],
            said["because"],
            said["options"],
            said.get("curable", True),
        )
        for name, said in truth.items()
    ]
