"""What OOM Forensics says of a job that died."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("oom-forensics")


def last_oom(logdir: Path) -> dict[str, Any] | None:
    """Returns the last out-of-memory of the newest run below `logdir`; None without one."""
    done = subprocess.run(
        [COMMAND, "convert", logdir, "--dataset=oom_window"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return None
    ooms: list[dict[str, Any]] = json.loads(done.stdout).get("ooms", [])
    return ooms[-1] if ooms else None
