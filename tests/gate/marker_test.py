"""The pytest marker `oom_budget`, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest
import tensorflow as tf


@pytest.mark.oom_budget("64 MiB")
def test_within():
    tf.zeros([1 << 20])


@pytest.mark.oom_budget("8 MiB")
def test_over():
    kept = tf.zeros([4 << 20]) + 1


@pytest.mark.oom_budget("8 MiB")
def test_failing_by_itself():
    assert tf.zeros([1]) is None


@pytest.mark.oom_budget(peek=1)
def test_of_an_unknown_key():
    pass


def test_without_a_marker():
    pass
"""


def test_a_test_over_its_budget_fails_with_its_line(
    tmp_path: Path, bfc_environment: dict[str, str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    file = tmp_path / "memory_test.py"
    file.write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", file],
        cwd=tmp_path,
        env={**os.environ, **bfc_environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "3 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "over the budget of 8.00 MiB" in done.stdout
    line = TESTS.splitlines().index("    kept = tf.zeros([4 << 20]) + 1") + 1
    assert f"memory_test.py:{line}" in done.stdout
    # A test that fails by itself says its own failure, not ours.
    assert "assert <tf.Tensor" in done.stdout
    assert "peek is not a key of a budget" in done.stdout
