"""The GitHub Action's own steps, run as a runner does: each in bash, with its environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ACTION = Path(__file__).parents[2] / "tools/gate_action/action.yml"


def run_action(folder: Path, **inputs: str) -> list[int]:
    """Runs the steps until one fails; returns their exit codes."""
    action = yaml.safe_load(ACTION.read_text())
    values = {name: str(each.get("default", "")) for name, each in action["inputs"].items()}
    values |= inputs
    codes = []
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
            for name, text in step["env"].items()
        }
        codes.append(
            subprocess.run(
                # As a runner calls bash.
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=folder,
                env={
                    **os.environ,
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
                    **variables,
                },
                check=False,
            ).returncode
        )
        if codes[-1]:
            break
    return codes


def test_a_run_over_its_budget_fails_the_job_and_leaves_the_comment(
    baseline: Path, grown: Path, tmp_path: Path
) -> None:
    (tmp_path / "budget.toml").write_text('layer_growth = "8 MiB"\n')
    codes = run_action(tmp_path, run=str(grown), baseline=str(baseline), budget="budget.toml")
    assert codes == [0, 3]
    comment = (tmp_path / "oom-forensics-gate.md").read_text()
    assert "over budget" in comment
    assert "middle" in comment
    assert (tmp_path / "summary.md").read_text() == comment
    assert (tmp_path / "oom-forensics-gate.xml").exists()


def test_a_run_within_its_budget_passes(grown: Path, tmp_path: Path) -> None:
    (tmp_path / "budget.toml").write_text('peak = "1 GiB"\n')
    assert run_action(tmp_path, run=str(grown), budget="budget.toml") == [0, 0]


def test_a_run_that_cannot_be_read_fails_at_once(tmp_path: Path) -> None:
    assert run_action(tmp_path, run=str(tmp_path / "missing")) == [1]
