"""The whole command, without Spark and on an embedded one.

Where Spark is not installed (tools/setup fleet) the latter is left out.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oom_forensics.fleet import connect
from oom_forensics.fleet.fleet_command import main


@pytest.mark.parametrize("master", ["none", "local[2]"])
def test_a_fleet_is_converted_once_and_what_changed_once_more(
    master: str,
    jobs: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The package lies in a source tree here, where Spark's workers do not find it by themselves.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    if master != "none":
        pytest.importorskip("pyspark")
    tables = str(tmp_path / "tables")
    arguments = [str(jobs), "-o", tables, "--master", master]
    assert main(arguments) == 0
    assert connect(tables).sql("select job from runs order by job").fetchall() == [
        ("one",),
        ("two",),
    ]
    assert connect(tables).sql("select job, exit_code from errors").fetchall() == [("damaged", 1)]
    before = connect(tables).sql("select count(*) from sites").fetchall()

    capfd.readouterr()
    assert main(arguments) == 0
    assert "3 runs found, 0 of them new or changed" in capfd.readouterr().err

    os.utime(next((jobs / "one").rglob("*.xplane.pb")))
    whole = next((jobs / "two").rglob("*.xplane.pb")).read_bytes()
    next((jobs / "damaged").rglob("*.xplane.pb")).write_bytes(whole)
    assert main(arguments) == 0
    assert "2 of them new or changed" in capfd.readouterr().err
    after = connect(tables)
    assert after.sql("select job from runs order by job").fetchall() == [
        ("damaged",),
        ("one",),
        ("two",),
    ]
    assert after.sql("select * from errors").fetchall() == []
    assert after.sql("select count(*) from incidents").fetchall() == [(1,)]
    assert after.sql("select count(*) from sites where job != 'damaged'").fetchall() == before
