from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import wait_until

from oom_forensics.logdir.runs import Run, RunList, parse_logdir_spec, scan


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


def test_an_out_of_memory_that_a_profile_shows_is_listed_once(tmp_path: Path) -> None:
    profile = tmp_path / "plugins/profile/profile"
    add_trace(profile, modified_s=2)
    recorded = tmp_path / "train/plugins/profile/now_oom"
    add_trace(recorded, modified_s=1)
    (recorded / "shown_in_run").write_text("../../../../plugins/profile/profile\n")
    assert names(tmp_path) == ["profile"]
    # Where the profile is not listed, it is.
    assert names(tmp_path / "train") == ["now_oom"]
    (profile / "host.xplane.pb").unlink()
    assert names(tmp_path) == ["train/now_oom"]


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
    assert runs.all() == []
    assert runs.is_empty()
    add_trace(tmp_path / "plugins/profile/run")
    wait_until(lambda: not runs.is_empty())
    assert runs.find("run") is not None
    assert runs.find("../run") is None


def test_runs_of_equal_names_are_told_apart(tmp_path: Path) -> None:
    add_trace(tmp_path / "one/plugins/profile/run", modified_s=2)
    add_trace(tmp_path / "two/plugins/profile/run", modified_s=1)
    spec = parse_logdir_spec(f"same:{tmp_path}/one,same:{tmp_path}/two")
    assert [run.name for run in scan(spec)] == ["same/run", "same/run (2)"]


def wait_for(runs: RunList, condition: Callable[[list[Run]], bool]) -> list[Run]:
    """The list once it fits; the disk is looked at again only every now and then."""
    wait_until(lambda: condition(runs.all(wait_s=60)))
    return runs.all(wait_s=60)


def test_a_run_that_is_written_again_has_a_greater_revision(tmp_path: Path) -> None:
    runs = RunList({str(tmp_path): ""}, fresh_s=0)
    trace = add_trace(tmp_path / "plugins/profile/run")
    (first,) = runs.all(wait_s=60)
    time.sleep(0.05)
    (same,) = runs.all(wait_s=60)
    assert (same.revision, same.version) == (first.revision, first.version)
    trace.write_bytes(b"\x0a\x00\x0a\x00")
    (changed,) = wait_for(runs, lambda found: found[0].size_bytes == 4)
    assert changed.revision > first.revision
    assert changed.version != first.version
    trace.unlink()
    wait_for(runs, lambda found: not found)
    add_trace(tmp_path / "plugins/profile/run")
    (again,) = wait_for(runs, lambda found: bool(found))
    assert again.revision > changed.revision


def stop_disk(patch: pytest.MonkeyPatch) -> threading.Event:
    """Lets looks at the disk wait for the event that it returns."""
    answers = threading.Event()

    def stuck(logdirs: dict[str, str], problems: list[str]) -> list[Run]:
        answers.wait(60)
        return scan(logdirs, problems)

    patch.setattr("oom_forensics.logdir.runs.scan", stuck)
    return answers


def test_a_slow_disk_delays_nobody_who_asks_for_a_known_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = RunList({str(tmp_path): ""}, fresh_s=0)
    add_trace(tmp_path / "plugins/profile/run")
    assert runs.find("run") is not None
    disk_answers = stop_disk(monkeypatch)
    # Would not return before the disk answers if it waited for it.
    assert runs.find("run") is not None
    assert [run.name for run in runs.all(wait_s=0.01)] == ["run"]
    assert not runs.is_empty()
    disk_answers.set()


def test_the_first_look_at_a_slow_disk_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_trace(tmp_path / "plugins/profile/run")
    disk_answers = stop_disk(monkeypatch)
    runs = RunList({str(tmp_path): ""})
    assert not runs.is_empty(wait_s=0.01), "nothing is known yet"
    asked: list[list[Run]] = []
    asker = threading.Thread(target=lambda: asked.append(runs.all(wait_s=0.01)))
    asker.start()
    disk_answers.set()
    asker.join()
    assert [run.name for run in asked[0]] == ["run"]


def test_a_missing_logdir_has_no_runs(tmp_path: Path) -> None:
    assert RunList({str(tmp_path / "missing"): ""}).all() == []
