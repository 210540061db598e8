"""What OOM Forensics says of a job that died."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("oom-forensics")


def forecast_of(logdir: Path, oom: int) -> tuple[int, int]:
    """Returns the peaks that the step of an OOM was forecast to have, lowest and highest order.

    In bytes, what was live before it included; zeros without a forecast.
    """
    for forecast in _dataset(logdir, "forecast").get("forecasts", []):
        if int(forecast.get("oom", -1)) == oom and forecast.get("origin") != "recorded":
            peaks = [int(order["peakInUseBytes"]) for order in forecast.get("orders", [])]
            return min(peaks, default=0), max(peaks, default=0)
    return 0, 0


def peak_requested_bytes(recording: Path) -> int:
    """Returns the bytes that had been asked for at the peak of a recording's largest pool."""
    peaks = [
        int(series.get("peak", {}).get("requestedBytes", 0))
        for series in _dataset(recording, "memory_timeline").get("series", [])
    ]
    return max(peaks, default=0)


def last_oom(logdir: Path) -> dict[str, Any] | None:
    """Returns the last out-of-memory of the newest run below `logdir`; None without one."""
    ooms: list[dict[str, Any]] = _dataset(logdir, "oom_window").get("ooms", [])
    if not ooms:
        return None
    # The first of the last incident tells the story.
    return ooms[int(ooms[-1]["incident"])]


def _dataset(logdir: Path, name: str) -> dict[str, Any]:
    done = subprocess.run(
        [COMMAND, "convert", logdir, f"--dataset={name}"],
        capture_output=True,
        text=True,
        check=False,
    )
    answer: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return answer
