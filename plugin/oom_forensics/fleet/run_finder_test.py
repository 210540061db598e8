"""Which runs are meant by folders, globs and lists."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from oom_forensics.core.errors import OomForensicsError
from oom_forensics.fleet.run_finder import find_runs


def test_a_folder_means_all_runs_below_it(jobs: Path) -> None:
    runs = find_runs([str(jobs)])
    assert [run.job for run in runs] == ["damaged", "one", "two"]
    assert {run.name for run in runs} == {"2026_11_20_12_00_00"}


def test_a_glob_a_list_and_a_url_mean_the_same_runs(jobs: Path, tmp_path: Path) -> None:
    everything = find_runs([str(jobs)])
    listed = tmp_path / "list.txt"
    listed.write_text(f"# the jobs\n{jobs}/one\n\n{jobs}/two\n{jobs}/damaged\n")
    assert find_runs([f"{jobs}/*"]) == everything
    assert find_runs([f"@{listed}"]) == everything
    assert find_runs([f"file://{jobs}", f"{jobs}/one"]) == everything


def test_hosts_of_a_run_belong_together_and_loose_traces_do_not(jobs: Path) -> None:
    trace = next((jobs / "one").rglob("*.xplane.pb"))
    shutil.copy(trace, trace.with_name("other.xplane.pb"))
    shutil.copy(trace, jobs / "loose.xplane.pb")
    (one,) = find_runs([str(jobs / "one")])
    assert len(one.files) == 2
    (loose,) = find_runs([str(jobs / "loose.xplane.pb")])
    assert (loose.name, loose.job) == ("loose", "jobs")


def test_a_run_has_another_version_once_a_trace_was_written_again(jobs: Path) -> None:
    before = find_runs([str(jobs)])
    trace = next((jobs / "one").rglob("*.xplane.pb"))
    os.utime(trace, (0, 0))
    after = find_runs([str(jobs)])
    changed = [
        new.job for old, new in zip(before, after, strict=True) if old.version != new.version
    ]
    assert changed == ["one"]
    assert [run.run_id for run in before] == [run.run_id for run in after]


def test_a_job_is_named_as_the_expression_says(jobs: Path) -> None:
    runs = find_runs([str(jobs)], r"/(\w+)/plugins/")
    assert [run.job for run in runs] == ["train", "train", "train"]


@pytest.mark.parametrize("pattern", ["{jobs}/none*", "@{jobs}/no_list", "nothing://here"])
def test_what_finds_nothing_is_one_sentence(jobs: Path, pattern: str) -> None:
    with pytest.raises(OomForensicsError, match=r"has no|cannot be"):
        find_runs([pattern.format(jobs=jobs)])
