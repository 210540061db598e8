"""Two minutes of what tools/soak does for an hour."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_out_of_memories_that_a_job_catches_cost_it_nothing_in_the_long_run(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [ROOT / "tools/soak", "--minutes=2", "--every=15", f"--logdir={tmp_path}"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not as it should be" not in done.stdout
