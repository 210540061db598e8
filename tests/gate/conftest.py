"""Two real runs of one script: the second one's middle layer is sixteen times as wide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR

SCRIPT = Path(__file__).parent / "scripts/train.py"


@pytest.fixture(scope="session")
def baseline(record: Any) -> Path:
    return Path(record(SCRIPT, LOGDIR).logdir)


@pytest.fixture(scope="session")
def grown(record: Any) -> Path:
    return Path(record(SCRIPT, LOGDIR, "4096").logdir)
