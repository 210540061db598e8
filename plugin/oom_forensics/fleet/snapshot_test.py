"""Readers see all of a commit or nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from oom_forensics.fleet import connect, dataset
from oom_forensics.fleet.schema import TABLES
from oom_forensics.fleet.snapshot import (
    CommitConflictError,
    Snapshot,
    commit,
    read_snapshot,
    remove_unused,
)
from oom_forensics.fleet.storage import FleetError, Folder
from oom_forensics.fleet.table_files import TableFile, write_partitions, write_without


def error_row(run_id: str, **columns: object) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(TABLES["errors"].schema.names)
    return {**row, "run_id": run_id, "sentence": "damaged", **columns}


def files_of(folder: Folder, *new: TableFile) -> dict[str, list[str]]:
    files = {table: list(some) for table, some in read_snapshot(folder).files.items()}
    for file in new:
        files[file.table].append(file.path)
    return files


def test_what_is_not_committed_is_not_read(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    with pytest.raises(FleetError, match="no tables"):
        dataset(str(tmp_path), "errors")
    (first,) = write_partitions(str(tmp_path), [(("errors", "2026-11-20"), [error_row("a")])])
    commit(folder, Snapshot(), files_of(folder, first))
    list(write_partitions(str(tmp_path), [(("errors", "2026-11-21"), [error_row("b")])]))
    rows = dataset(str(tmp_path), "errors").to_table().to_pylist()
    assert [(row["run_id"], row["day"]) for row in rows] == [("a", "2026-11-20")]


def test_of_two_fleets_the_second_to_commit_is_refused(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    base = read_snapshot(folder)
    commit(folder, base, files_of(folder))
    with pytest.raises(CommitConflictError, match="run it again"):
        commit(folder, base, files_of(folder))
    assert read_snapshot(folder).number == 1


def test_tables_of_another_schema_are_refused(tmp_path: Path) -> None:
    Folder(str(tmp_path)).create("_snapshots/00000001.json", b'{"number":1,"schema_version":99}')
    with pytest.raises(FleetError, match="schema 99"):
        connect(str(tmp_path))


def test_rows_of_a_run_leave_the_files_that_have_them_and_no_others(tmp_path: Path) -> None:
    url = str(tmp_path)
    rows = [
        (("errors", "2026-11-20"), [error_row("a"), error_row("b")]),
        (("errors", "2026-11-21"), [error_row("c")]),
        (("errors", "2026-11-22"), [error_row("a")]),
    ]
    (both, other, only) = (file.path for file in write_partitions(url, rows))
    assert write_without(url, other, {"a"}) == other
    assert write_without(url, only, {"a"}) is None
    rewritten = write_without(url, both, {"a"})
    assert rewritten not in (None, both)
    folder = Folder(url)
    commit(folder, Snapshot(), {**files_of(folder), "errors": [str(rewritten), other]})
    assert sorted(dataset(url, "errors").to_table()["run_id"].to_pylist()) == ["b", "c"]


def test_files_are_removed_once_no_reader_can_need_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(str(tmp_path))
    rows = [(("errors", f"2026-11-2{n}"), [error_row("a")]) for n in range(3)]
    old, new, stray = write_partitions(str(tmp_path), rows)
    first = commit(folder, Snapshot(), files_of(folder, old))
    commit(folder, first, {**files_of(folder), "errors": [new.path]})
    assert remove_unused(folder) == 0, "a reader may have begun, a writer be at work"
    monkeypatch.setattr("oom_forensics.fleet.snapshot._READERS_S", 0.0)
    monkeypatch.setattr("oom_forensics.fleet.snapshot._WRITERS_S", 0.0)
    assert remove_unused(folder) == 2
    assert [(tmp_path / file.path).exists() for file in (old, new, stray)] == [False, True, False]
    assert dataset(str(tmp_path), "errors").count_rows() == 1


def test_duckdb_has_a_view_of_every_table(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    (file,) = write_partitions(str(tmp_path), [(("errors", "2026-11-20"), [error_row("a")])])
    commit(folder, Snapshot(), files_of(folder, file))
    tables = connect(str(tmp_path))
    for table in TABLES:
        tables.sql(f"select * from {table}").fetchall()
    assert tables.sql("select run_id, day from errors").fetchall() == [("a", "2026-11-20")]
