from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from test_runners.bazel import count
from test_runners.tally import Tally

GOOGLETEST_XML = """<testsuites><testsuite>
  <testcase name="Adds" status="run" result="completed"/>
  <testcase name="Subtracts" status="run" result="completed">{failure}</testcase>
  <testcase name="DISABLED_Divides" status="notrun" result="suppressed"/>
</testsuite></testsuites>"""


def result(label: str, xml: Path, status: str) -> list[dict[str, Any]]:
    output = {"name": "test.xml", "uri": xml.as_uri()}
    return [
        {
            "id": {"testResult": {"label": label}},
            "testResult": {"testActionOutput": [output]},
        },
        {
            "id": {"testSummary": {"label": label}},
            "testSummary": {"overallStatus": status},
        },
    ]


@pytest.fixture
def passing_xml(tmp_path: Path) -> Path:
    xml = tmp_path / "passing 1.xml"
    xml.write_text(GOOGLETEST_XML.format(failure=""))
    return xml


def test_counts_the_cases_inside_a_test_target(passing_xml: Path) -> None:
    assert count(["//a:b"], result("//a:b", passing_xml, "PASSED")) == Tally(2, 0, 1)


def test_a_failed_case_is_counted_once(tmp_path: Path) -> None:
    xml = tmp_path / "test.xml"
    xml.write_text(GOOGLETEST_XML.format(failure="<failure/>"))
    assert count(["//a:b"], result("//a:b", xml, "FAILED")) == Tally(1, 1, 1)


def test_a_test_that_did_not_build_is_a_failure(passing_xml: Path) -> None:
    events = result("//a:b", passing_xml, "PASSED")
    assert count(["//a:b", "//a:broken"], events) == Tally(2, 1, 1)


def test_a_crash_after_passing_cases_is_a_failure(passing_xml: Path) -> None:
    assert count(["//a:b"], result("//a:b", passing_xml, "FAILED")) == Tally(2, 1, 1)


def test_a_truncated_report_is_a_failure(tmp_path: Path) -> None:
    xml = tmp_path / "test.xml"
    xml.write_text("<testsuites><testsuite>")
    assert count(["//a:b"], result("//a:b", xml, "PASSED")) == Tally(0, 1, 0)
