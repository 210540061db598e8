"""The jobs that tests of several languages look at, as recordings."""

from __future__ import annotations

import sys
from pathlib import Path

from recordings.recording import LOGDIR, ROOT, Recording, recorded

TOOLS = ROOT / "tools"
DEVICE = ROOT / "tests/collector/pluggable_device"
DEVICE_JOB = ROOT / "tests/collector/scripts/pluggable_device.py"
OUT_OF_MEMORY = 3


def recorded_demo(
    name: str, *options: str, exit_code: int = OUT_OF_MEMORY, **environment: str
) -> Recording:
    """A job of `tools/demo`, run as a user would."""
    ordered = {"TF_NUM_INTEROP_THREADS": "1"} if name == "fragmentation" else {}
    return recorded(
        [sys.executable, "-m", f"demos.{name}", "--logdir", LOGDIR, *options],
        # One order of a step's ops, where the pieces of the pool depend on it.
        {"PYTHONPATH": str(TOOLS), **ordered, **environment},
        [TOOLS / "demos"],
        exit_code=exit_code,
    )


def recorded_device(**environment: str) -> Recording:
    """A job on the pluggable device of the tests; the variables say how it gives out memory."""
    built = recorded(
        [sys.executable, DEVICE / "build.py", f"{LOGDIR}/libhosted_device.so"],
        {},
        [DEVICE / "build.py", *sorted(DEVICE.glob("*.cc"))],
    )
    plugin = built.logdir / "libhosted_device.so"
    return recorded([sys.executable, DEVICE_JOB, plugin, LOGDIR], environment, [DEVICE_JOB, plugin])


def profile_in(logdir: Path) -> Path:
    """The run of TensorFlow's profiler; that of the flight recorder may lie beside it."""
    (run,) = (each for each in logdir.glob("plugins/profile/*") if not each.name.endswith("_oom"))
    return run
