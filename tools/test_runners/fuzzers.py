"""Runs the fuzzers of the converter for a while, from the corpus in the repository."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from test_runners.tally import Tally

FUZZERS = ["trace", "request"]
PACKAGE = Path("converter/fuzz")

# Of each. For a longer search call them by hand (converter/fuzz/BUILD.bazel).
SECONDS = 20


def run(root: Path) -> Tally:
    """Builds and runs all fuzzers; each counts as one test."""
    targets = [f"//{PACKAGE}:{name}_fuzzer" for name in FUZZERS]
    built = subprocess.run(
        ["bazel", "build", "--config=asan", "--color=no", *targets],
        cwd=root,
        check=False,
    )
    if built.returncode != 0:
        return Tally(failed=len(FUZZERS))
    tally = Tally()
    for name in FUZZERS:
        done = _fuzz(root, name)
        tally += Tally(passed=int(done), failed=int(not done))
    return tally


def _fuzz(root: Path, name: str) -> bool:
    """Runs one fuzzer and says whether it found nothing."""
    with tempfile.TemporaryDirectory() as found:
        done = subprocess.run(
            [
                root / "bazel-bin" / PACKAGE / f"{name}_fuzzer",
                f"-max_total_time={SECONDS}",
                "-timeout=10",
                "-rss_limit_mb=2048",
                "-print_final_stats=1",
                "-verbosity=0",
                "-print_funcs=0",
                # What is new goes into the first folder.
                found,
                root / PACKAGE / "corpus" / name,
            ],
            cwd=found,
            check=False,
        )
        for crash in Path(found).glob("*-*"):
            print(f"{crash.name}: {crash.read_bytes().hex()[:4000]}", flush=True)
    return done.returncode == 0
