"""The answers about a fleet, and the page that shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from oom_forensics.core.commands import exit_code_of
from oom_forensics.fleet import report_command
from oom_forensics.fleet.report import answers, page

ANSWERS_TS = Path(__file__).resolve().parents[3] / "frontend/src/fleet/answers.ts"


def test_every_question_is_answered(tables: Path) -> None:
    data = answers(str(tables))["answers"]
    (overview,) = data["overview"]
    counts = [overview[name] for name in ("runs", "jobs", "incidents", "errors")]
    assert counts == [2, 2, 1, 1]
    assert data["ooms_over_time"] == [{"day": "2026-11-20", "verdict": "EXTERNAL", "incidents": 1}]
    (incident,) = data["incidents"]
    assert (incident["job"], incident["op"]) == ("one", "Fill")
    assert (incident["requested_bytes"], incident["limit_bytes"]) == (4 << 20, 256 << 20)
    assert {row["job"]: row["incidents"] for row in data["reserved"]} == {"one": 1, "two": 0}
    (error,) = data["errors"]
    assert (error["runs"], error["exit_code"]) == (1, 1)


def test_the_page_expects_the_columns_that_the_queries_have(tables: Path) -> None:
    text = ANSWERS_TS.read_text()
    for name, rows in answers(str(tables))["answers"].items():
        assert re.search(rf"readonly {name}: ", text), name
        for column in rows[0] if rows else ():
            assert re.search(rf"readonly {column}\??: ", text), f"{name}.{column}"


def test_what_a_run_says_cannot_leave_the_pages_data(tables: Path) -> None:
    data = answers(str(tables))
    data["answers"]["incidents"][0]["op"] = "</script><script>alert(1)</script>"
    text = page(data)
    assert "</script><script>alert" not in text
    found = re.search(r'<script id="oom-forensics-fleet"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found is not None
    assert json.loads(found.group(1)) == data


def test_a_folder_without_tables_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(tmp_path), "-o", str(tmp_path / "page.html")]
    assert exit_code_of(lambda: report_command.main(arguments)) == 1
    assert "There are no tables in" in capsys.readouterr().err
