"""What a gate found, for a terminal, a program, a test report and a pull request."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from xml.etree import ElementTree

from oom_forensics.gate.checks import Gate


def as_text(gate: Gate) -> str:
    """Returns the story and a line a check."""
    lines = [gate.story]
    lines += [
        f"{'ok    ' if each.passed else 'FAILED'}  {each.name}: {each.sentence}"
        for each in gate.findings
    ]
    lines += [f"        {each} at the peak" for each in gate.holders]
    return "\n".join(lines) + "\n"


def as_json(gate: Gate) -> str:
    """Returns the same as an object."""
    return json.dumps({"passed": gate.passed, **dataclasses.asdict(gate)}, indent=2) + "\n"


def as_junit(gate: Gate) -> str:
    """Returns the checks as the test cases of a JUnit report."""
    suite = ElementTree.Element(
        "testsuite",
        name="oom-forensics gate",
        tests=str(len(gate.findings)),
        failures=str(sum(not each.passed for each in gate.findings)),
        errors="0",
    )
    for each in gate.findings:
        case = ElementTree.SubElement(suite, "testcase", classname="memory", name=each.name)
        if not each.passed:
            ElementTree.SubElement(case, "failure", message=each.sentence)
    ElementTree.SubElement(suite, "system-out").text = gate.story
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(gate: Gate) -> str:
    """Returns the comment for a pull request."""
    lines = [f"### Memory: {'within' if gate.passed else 'over'} budget", "", gate.story, ""]
    lines += ["| check | | |", "| --- | --- | --- |"]
    lines += [
        f"| {'✅' if each.passed else '❌'} | {_cell(each.name)} | {_cell(each.sentence)} |"
        for each in gate.findings
    ]
    if gate.growth:
        lines += ["", "<details><summary>Growth by layer</summary>", ""]
        lines += [f"- {_cell(str(each))}" for each in gate.growth]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that ends no cell of a table and is no markup."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


FORMATS: dict[str, Callable[[Gate], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
