"""The same code on two versions of TensorFlow, compared by one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.recording import LOGDIR, ROOT, recorded
from versions import oldest

SCRIPT = Path(__file__).parent / "scripts/train.py"


def test_the_story_names_both_versions(grown: Path, command: Any, bfc_environment: Any) -> None:
    before = recorded(
        [oldest.python_with_collector(), SCRIPT, LOGDIR, "4096"],
        {**bfc_environment, "PYTHONPATH": str(ROOT / "plugin")},
        [SCRIPT],
    ).logdir
    done = command("gate", grown, f"--baseline={before}")
    assert done.returncode == 0, done.stderr
    story = done.stdout.splitlines()[0]
    assert f"The baseline ran on TensorFlow {oldest.VERSION}, this run on " in story
