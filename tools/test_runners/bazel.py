"""Runs the Bazel tests and counts their test cases.

What ran is read from Bazel's build event file, so that a test that did not even
build counts as failed and a cached one counts as what it was.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from test_runners.tally import Tally, read_junit

_QUIET = ["--noshow_progress", "--ui_event_filters=-info,-debug"]


# The tests of core and converter, built together: a third of the time.
UNITY_TESTS = "//converter/unity:tests"


def test_labels(
    kind: str, packages: Sequence[str], without_tags: Sequence[str], *, by_file: bool
) -> list[str]:
    """Returns the tests of `packages` whose rule matches the pattern `kind`.

    Those that UNITY_TESTS is made of are left out for it, unless all is to be compiled by file.
    """
    query = f'kind("{kind}", {" + ".join(packages)})'
    if not by_file:
        query += f" except labels(tests, {UNITY_TESTS}_sources)"
    for tag in without_tags:
        query += f' except attr("tags", "[\\[ ]{tag}[,\\]]", //...)'
    result = subprocess.run(
        ["bazel", "query", *_QUIET, query],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    labels = result.stdout.split()
    return labels if by_file else [UNITY_TESTS, *labels]


def run(
    kind: str,
    options: Sequence[str],
    packages: Sequence[str] = ("//...",),
    without_tags: Sequence[str] = (),
    *,
    by_file: bool = False,
) -> Tally:
    """Runs the tests of a kind with Bazel `options` and returns their counts."""
    labels = test_labels(kind, packages, ["manual", *without_tags], by_file=by_file)
    with tempfile.TemporaryDirectory() as folder:
        events_file = Path(folder) / "events.json"
        subprocess.run(
            [
                "bazel",
                "test",
                "--keep_going",
                "--build_tests_only",
                "--color=no",
                "--show_progress_rate_limit=10",
                f"--build_event_json_file={events_file}",
                *options,
                *labels,
            ],
            check=False,
        )
        text = events_file.read_text() if events_file.exists() else ""
    return count(labels, (json.loads(line) for line in text.splitlines()))


def count(labels: Sequence[str], events: Iterable[dict[str, Any]]) -> Tally:
    """Counts the test cases of `labels` from Bazel's build events.

    A test without a result, or one that failed without saying which of its cases
    did (it crashed, or ran out of time), is one failed test more.
    """
    cases: dict[str, Tally] = {}
    passed: set[str] = set()
    for event in events:
        name = event["id"]
        if "testResult" in event and "testResult" in name:
            label = name["testResult"]["label"]
            for output in event["testResult"].get("testActionOutput", []):
                if output["name"] == "test.xml":
                    xml = Path(unquote(urlparse(output["uri"]).path))
                    cases[label] = cases.get(label, Tally()) + read_junit(xml)
        elif event.get("testSummary", {}).get("overallStatus") in ("PASSED", "FLAKY"):
            passed.add(name["testSummary"]["label"])
    total = Tally()
    for label in labels:
        tally = cases.get(label, Tally())
        if label not in passed and tally.failed == 0:
            tally += Tally(failed=1)
        total += tally
    return total
