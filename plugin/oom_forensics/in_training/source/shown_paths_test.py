"""What of a path goes into a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from oom_forensics.in_training.source.shown_paths import ShownPaths, project_root


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project/jobs").mkdir(parents=True)
    (tmp_path / "project/pyproject.toml").touch()
    script = tmp_path / "project/jobs/train.py"
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    return script


def test_the_projects_folder_is_the_nearest_that_looks_like_one(script: Path) -> None:
    assert project_root() == str(script.parents[1])


def test_without_one_it_is_the_scripts_own(script: Path) -> None:
    (script.parents[1] / "pyproject.toml").unlink()
    assert project_root() == str(script.parent)


def test_paths_are_whole_shortened_or_left_out(script: Path) -> None:
    other = "/home/me/secret/model.py"
    assert ShownPaths("full").shown(other) == other
    assert ShownPaths("project").shown(str(script)) == "jobs/train.py"
    assert ShownPaths("project").shown(other) == "model.py"
    assert ShownPaths("project").shown("<stdin>") == "<stdin>"
    assert ShownPaths("none").shown(other) == ""


def test_without_paths_a_chain_names_no_file() -> None:
    link = "list 'mine' in train (secret.py:41) (2 items)"
    assert ShownPaths("project").without_file(link) == link
    assert ShownPaths("none").without_file(link) == "list 'mine' in train (line 41) (2 items)"


def test_without_paths_there_are_no_texts() -> None:
    assert ShownPaths("project").with_text
    assert not ShownPaths("none").with_text
