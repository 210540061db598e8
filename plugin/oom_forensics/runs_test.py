from __future__ import annotations

import os
import time
from pathlib import Path

from oom_forensics.runs import RunList, parse_logdir_spec, scan


def add_trace(folder: Path, host: str = "host", modified_s: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    trace = folder / f"{host}.xplane.pb"
    trace.write_bytes(b"\x0a\x00")
    os.utime(trace, (modified_s, modified_s))
    return trace


def names(logdir: Path) -> list[str]:
    return [run.name for run in scan({str(logdir): ""})]


def test_runs_are_named_as_the_profiler_names_them(tmp_path: Path) -> None:
    add_trace(tmp_path / "plugins/profile/2026_11_20", modified_s=3)
    add_trace(tmp_path / "train/plugins/profile/2026_11_20", modified_s=2)
    add_trace(tmp_path / "a/b/plugins/profile/later", modified_s=1)
    assert names(tmp_path) == ["2026_11_20", "train/2026_11_20", "a/b/later"]


def test_the_newest_run_comes_first(tmp_path: Path) -> None:
    add_trace(tmp_path / "plugins/profile/old", modified_s=1)
    add_trace(tmp_path / "plugins/profile/new", modified_s=2)
    assert names(tmp_path) == ["new", "old"]


def test_a_run_has_one_trace_per_host(tmp_path: Path) -> None:
    folder = tmp_path / "plugins/profile/run"
    add_trace(folder, "worker-1")
    add_trace(folder, "worker-0")
    (folder / "notes.txt").write_text("not a trace")
    (run,) = scan({str(tmp_path): ""})
    assert [file.host for file in run.files] == ["worker-0", "worker-1"]
    assert run.size_bytes == 4


def test_folders_without_a_trace_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "plugins/profile/empty").mkdir(parents=True)
    add_trace(tmp_path / "checkpoints")
    assert names(tmp_path) == []


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    add_trace(elsewhere / "plugins/profile/run")
    logdir = tmp_path / "logdir"
    logdir.mkdir()
    (logdir / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(logdir)
    assert names(logdir) == ["linked/run"]


def test_logdirs_of_a_spec_keep_their_names(tmp_path: Path) -> None:
    add_trace(tmp_path / "one/plugins/profile/run", modified_s=2)
    add_trace(tmp_path / "two/train/plugins/profile/run", modified_s=1)
    spec = parse_logdir_spec(f"first:{tmp_path}/one,second:{tmp_path}/two")
    assert [run.name for run in scan(spec)] == ["first/run", "second/train/run"]


def test_a_spec_may_have_paths_without_names_and_with_colons() -> None:
    assert parse_logdir_spec("/a:b/c,name:/d:e") == {"/a:b/c": "", "/d:e": "name"}


def test_a_run_that_appears_later_is_found(tmp_path: Path) -> None:
    runs = RunList({str(tmp_path): ""}, fresh_s=0)
    assert runs.is_empty()
    add_trace(tmp_path / "plugins/profile/run")
    deadline = time.monotonic() + 60
    while runs.is_empty() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert runs.find("run") is not None
    assert runs.find("../run") is None


def test_a_missing_logdir_has_no_runs(tmp_path: Path) -> None:
    assert RunList({str(tmp_path / "missing"): ""}).all() == []
