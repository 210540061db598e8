from __future__ import annotations

import json
from pathlib import Path

import pytest

from oom_forensics.logdir.oom_report import ReportError, read_report


def report(folder: Path, **members: object) -> Path:
    path = folder / "host.oom_report.json"
    path.write_text(json.dumps({"schema": "oom_forensics.oom_report", **members}))
    return path


def test_shapes_of_version_1_become_lists(tmp_path: Path) -> None:
    old = report(
        tmp_path,
        version=1,
        request={"op_name": "a", "shape": "[8,16]"},
        live_by_site=[{"op_name": "b", "shape": ""}],
        recent_allocations=[{"op_name": "c", "shape": "[]"}],
    )
    read = read_report(old)
    assert read["version"] == 2
    assert read["request"] == {"op_name": "a", "shape": [8, 16]}
    assert read["live_by_site"] == [{"op_name": "b"}]
    assert read["recent_allocations"] == [{"op_name": "c", "shape": []}]


def test_version_2_is_read_as_it_is(tmp_path: Path) -> None:
    new = report(tmp_path, version=2, request={"op_name": "a", "shape": [8]})
    assert read_report(new)["request"]["shape"] == [8]


@pytest.mark.parametrize("members", [{"version": 3}, {"schema": "else"}])
def test_what_it_cannot_read_is_said(tmp_path: Path, members: dict[str, object]) -> None:
    with pytest.raises(ReportError):
        read_report(report(tmp_path, **members))
