"""Whether one out-of-memory is told in the same words wherever it is told."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from advice.verdicts import COMMAND


def told_runs(told: str) -> list[Path]:
    """Returns the runs of out-of-memories that a process names in what it printed."""
    named = re.findall(r"[Tt]he whole story: (?:oom-forensics report )?(.+)$", told, re.MULTILINE)
    return [Path(path) for path in dict.fromkeys(named)]


def different_words(told: str) -> list[str]:
    """Returns what differs between the places where an out-of-memory is told of.

    Of every run that is named in `told`, which is what the process printed: its summary
    (which went to stderr and onto the error), its JSON report, the verdict of its trace,
    which is what the tab shows, and the report in the terminal.
    """
    return [each for run in told_runs(told) for each in _differences(run, told)]


def _differences(run: Path, told: str) -> list[str]:
    report = json.loads(next(run.glob("*.oom_report.json")).read_text())
    window = json.loads(_said("convert", run, "--dataset=oom_window"))
    # Other threads' requests may have been refused at the same moment.
    ooms = [oom for oom in window["ooms"] if _is_of(oom["request"], report["request"])]
    if not ooms:
        return [f"{run}: the trace does not have the request of the report"]
    # `Op_4` has the name of `Op` in it.
    oom = min(ooms, key=lambda oom: len(oom["request"]["opName"]))
    verdict, reason = oom["verdict"], report["reason"]
    sentence = reason["sentence"]
    # Where a deeper cause comes first, the evidence has what it came to.
    kinds = {part["sentence"]: part["kind"] for part in verdict["parts"]}
    placement = [each for each in verdict["evidence"] if each["name"] == "placement"]
    said = placement[0]["sentence"] if placement else verdict["sentence"]
    same = {
        "kind": kinds.get(sentence) == reason["kind"],
        "verdict": said.startswith(sentence),
        "bytes that it was short by": verdict["shortByBytes"] == str(reason["short_by_bytes"]),
        "summary": sentence in "\n".join(report["summary"]),
        "lines printed": all(line in told for line in report["summary"]),
        # It prints the first request of an incident, and counts the others.
        "report": oom["incident"] != oom["index"] or sentence in _said("report", run, "--full"),
    }
    return [f"{run}: {what}: {sentence}" for what, is_same in same.items() if not is_same]


def _is_of(recorded: dict[str, Any], reported: dict[str, Any]) -> bool:
    # What XLA asks for has no op of its own: the trace calls it by its function.
    name = reported.get("compiled_function") or reported["op_name"]
    return bool(
        name in recorded["opName"]
        and recorded["thread"] == str(reported["thread"])
        and recorded["requestedBytes"] == str(reported["requested_bytes"])
    )


def _said(*arguments: str | Path) -> str:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True)
    return done.stdout
