from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from test_runners.kept_results import keep, kept, key_of
from test_runners.tally import Tally

PASSED = Tally(passed=3, skipped=1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(".cache\n")
    (tmp_path / "job.py").write_text("train()\n")
    return tmp_path


def test_what_passed_is_kept_while_nothing_changes(tree: Path) -> None:
    assert kept(tree, "pytest", key_of(tree)) is None

    keep(tree, "pytest", key_of(tree), PASSED)

    found = kept(tree, "pytest", key_of(tree))
    assert found is not None
    assert found[0] == PASSED
    assert kept(tree, "browser", key_of(tree)) is None


@pytest.mark.parametrize("changed", ["job.py", "a_new_file.py"])
def test_a_changed_or_a_new_file_is_tested(tree: Path, changed: str) -> None:
    keep(tree, "pytest", key_of(tree), PASSED)

    (tree / changed).write_text("train(more=True)\n")

    assert kept(tree, "pytest", key_of(tree)) is None


def test_a_setting_in_the_environment_is_tested(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tree, "pytest", key_of(tree), PASSED)

    monkeypatch.setenv("TF_CPU_ALLOCATOR_USE_BFC", "0")

    assert kept(tree, "pytest", key_of(tree)) is None


@pytest.mark.parametrize("tally", [Tally(passed=3, failed=1), Tally(skipped=1)])
def test_what_did_not_pass_is_not_kept(tree: Path, tally: Tally) -> None:
    keep(tree, "pytest", key_of(tree), tally)

    assert kept(tree, "pytest", key_of(tree)) is None


def test_what_changed_under_way_is_not_kept(tree: Path) -> None:
    began = key_of(tree)
    (tree / "job.py").write_text("train(more=True)\n")

    keep(tree, "pytest", began, PASSED)

    assert kept(tree, "pytest", key_of(tree)) is None
