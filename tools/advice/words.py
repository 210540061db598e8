"""Whether one out-of-memory is told in the same words wherever it is told."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from advice.verdicts import COMMAND


def told_runs(told: str) -> list[Path]:
    """Returns the runs of out-of-memories that a process names in what it printed."""
    named = re.findall(r"[Tt]he whole story: (?:oom-forensics report )?(.+)$", told, re.MULTILINE)
    return [Path(path) for path in dict.fromkeys(named)]


def different_words(told: str) -> list[str]:
    """Returns what differs between the places where an out-of-memory is told of.

    For each run that `told`, the output of the process, names: what it said when it ran out of
    memory (on stderr and on the error), the verdict of its trace, which is what the tab shows,
    and the report in the terminal.
    """
    return [each for run in told_runs(told) for each in _differences(run, told)]


def _differences(run: Path, told: str) -> list[str]:
    window = json.loads(_said("convert", run, "--dataset=oom_window"))
    # The process speaks of the first request of an incident, and counts the others.
    oom = next(oom for oom in window["ooms"] if oom["incident"] == oom["index"])
    verdict = oom["verdict"]
    # Where a deeper cause comes first, the evidence has what it came to.
    placement = [each for each in verdict["evidence"] if each["name"] == "placement"]
    sentence = placement[0]["sentence"] if placement else verdict["sentence"]
    parts = [part["sentence"] for part in verdict["parts"]]
    said = [part for part in parts if part in told]
    # The op, or the function that XLA compiled, which the trace's name contains.
    named = [*re.findall(r"OOM Forensics: (\S+).*? asked ", told), "(no op recorded)"]
    same = {
        "said by the process": bool(said) and any(sentence.startswith(part) for part in said),
        "the request": any(name in oom["request"]["opName"] for name in named),
        "the report": any(part in _said("report", run, "--full") for part in said),
    }
    return [f"{run}: {what}: {sentence}" for what, is_same in same.items() if not is_same]


def _said(*arguments: str | Path) -> str:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True)
    return done.stdout
