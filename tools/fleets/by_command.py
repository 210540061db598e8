"""A run's rows by the command, one process for each question: what a fleet is compared with."""

from __future__ import annotations

import json
import subprocess
from typing import TypeVar

from oom_forensics.converter.binary import find_converter
from oom_forensics.datasets import Query
from oom_forensics.fleet.run_rows import Rows, rows_of_run
from oom_forensics.message import Message

_Answer = TypeVar("_Answer", bound=Message)


def rows_by_command(path: str) -> Rows:
    """Returns the rows of a run on this machine, without those columns that name the run.

    Raises:
      CalledProcessError: the command refused the run.
    """

    def ask(answer: type[_Answer], query: Query) -> _Answer:
        asked = [f"--dataset={query.dataset.value.lower()}"]
        if query.limit or query.offset:
            asked += [f"--rows={query.limit}", f"--offset={query.offset}"]
        if query.filter.allocator:
            asked += [f"--host={query.filter.host}", f"--allocator={query.filter.allocator}"]
        if query.group_by.value != "GROUP_NONE":
            asked.append(f"--group-by={query.group_by.value.removeprefix('GROUP_').lower()}")
            asked.append("--at=peak" if query.at.peak else f"--at=oom:{query.at.oom}")
        command = find_converter().command("convert", path, *asked)
        done = subprocess.run(command, check=True, capture_output=True)
        return answer.from_json(json.loads(done.stdout))

    return rows_of_run(ask)[0]
