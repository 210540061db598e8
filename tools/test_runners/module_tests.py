"""Runs the C++ unit tests as WebAssembly, in the runtime that runs the command so.

    python -m test_runners.module_tests tests.wasm [flags of GoogleTest]

`run` builds them and does so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from test_runners.tally import Tally, read_junit

_TIMEOUT_S = 300


def run(root: Path) -> Tally:
    """Builds the tests of converter/wasm, runs them and returns their counts."""
    options = ["--config=wasm", "--ui_event_filters=-info,-debug"]
    target = "//converter/wasm:tests"
    built = subprocess.run(
        ["bazel", "build", "--color=no", "--show_progress_rate_limit=10", *options, target],
        cwd=root,
        check=False,
    )
    if built.returncode != 0:
        return Tally(failed=1)
    outputs = subprocess.check_output(
        ["bazel", "info", *options, "bazel-bin"], cwd=root, text=True
    ).strip()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "tests.xml"
        code = _run_module(
            root,
            [
                f"{outputs}/converter/wasm/tests.wasm",
                "--gtest_brief=1",
                f"--gtest_output=xml:{report}",
            ],
            folder,
        )
        tally = read_junit(report)
    # It ended before it could count.
    return tally if code == 0 or tally.failed else tally + Tally(failed=1)


def _run_module(root: Path, arguments: list[str], folder: str) -> int | None:
    """Runs it in a process of its own, in which it may hang; returns the exit code."""
    try:
        return subprocess.run(
            [sys.executable, "-m", __name__, *arguments],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root / "tools"), "TEST_TMPDIR": folder},
            timeout=_TIMEOUT_S,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        print(f"The tests as WebAssembly took more than {_TIMEOUT_S} s.", flush=True)
        return None


def main(module: str, *arguments: str) -> int:
    """Runs a module of tests in this process; returns its exit code."""
    # Only here: it needs the wheel.
    from oom_forensics.webassembly.program import run as run_module

    return run_module(arguments, Path(module), ["TEST_TMPDIR"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
