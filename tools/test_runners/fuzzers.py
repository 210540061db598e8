"""Runs the fuzzers of the converter for a while, from the corpus in the repository."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from test_runners.tally import Tally

# And how many inputs each tries: enough to see that they run and what breaks at once. To
# search on, call them by hand (converter/fuzz/BUILD.bazel).
FUZZERS = {"trace": 500, "request": 5_000, "box": 500}
PACKAGE = Path("converter/fuzz")
CONFIGURATION = ["--config=asan"]


def run(root: Path) -> Tally:
    """Builds and runs all fuzzers; each counts as one test."""
    targets = [f"//{PACKAGE}:{name}_fuzzer" for name in FUZZERS]
    built = subprocess.run(
        ["bazel", "build", *CONFIGURATION, "--color=no", *targets],
        cwd=root,
        check=False,
    )
    if built.returncode != 0:
        return Tally(failed=len(FUZZERS))
    # Where they are: the link bazel-bin is moved by builds that run meanwhile.
    where = subprocess.run(
        ["bazel", "info", *CONFIGURATION, "bazel-bin"],
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    binaries = Path(where.stdout.strip()) / PACKAGE
    tally = Tally()
    for name, runs in FUZZERS.items():
        done = _fuzz(binaries, root / PACKAGE / "corpus", name, runs)
        tally += Tally(passed=int(done), failed=int(not done))
    return tally


def _fuzz(binaries: Path, corpus: Path, name: str, runs: int) -> bool:
    """Runs one fuzzer and says whether it found nothing."""
    with tempfile.TemporaryDirectory() as found:
        done = subprocess.run(
            [
                binaries / f"{name}_fuzzer",
                "-seed=1",
                f"-runs={runs}",
                "-max_total_time=120",
                # Below them an input fails by what it takes for each of its bytes (cost_limit.h).
                "-timeout=30",
                "-rss_limit_mb=2048",
                "-malloc_limit_mb=512",
                "-print_final_stats=1",
                "-verbosity=0",
                "-print_funcs=0",
                # What is new goes into the first folder.
                found,
                corpus / name,
            ],
            cwd=found,
            check=False,
        )
        for crash in Path(found).glob("*-*"):
            print(f"{crash.name}: {crash.read_bytes().hex()[:4000]}", flush=True)
    return done.returncode == 0
