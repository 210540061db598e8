"""What runs the tests of each kind, and counts them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from test_runners import bazel, fuzzers
from test_runners.tally import Tally, read_junit

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"

# Where threads meet; in the other packages there is nothing for a race to be in.
PACKAGES_WITH_THREADS = [
    "//collector/...",
    "//converter/reader/...",
    "//converter/run/...",
    "//converter/service/...",
]


def cc_tests() -> Tally:
    """All Bazel tests, as they ship."""
    return bazel.run(".*_test rule", ["--config=release"])


def cc_tests_with_address_sanitizer() -> Tally:
    """The C++ tests under the address and undefined-behaviour sanitizers."""
    return bazel.run("cc_test rule", ["--config=asan"], without_tags=["no-asan"])


def cc_tests_with_thread_sanitizer() -> Tally:
    """The C++ tests under the thread sanitizer."""
    return bazel.run(
        "cc_test rule",
        ["--config=tsan"],
        packages=PACKAGES_WITH_THREADS,
        without_tags=["no-tsan"],
    )


def fuzzing() -> Tally:
    """The parsers of what comes from outside, on input made to break them."""
    return fuzzers.run(ROOT)


def run_vitest(config: str) -> Tally:
    """Runs the TypeScript tests of one configuration."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "vitest.xml"
        subprocess.run(
            [
                "node_modules/.bin/vitest",
                "run",
                f"--config={config}",
                "--reporter=default",
                "--reporter=junit",
                f"--outputFile.junit={report}",
            ],
            cwd=FRONTEND,
            check=False,
        )
        return read_junit(report)


def vitest() -> Tally:
    """The TypeScript tests."""
    return run_vitest("vitest.config.ts")


def browser() -> Tally:
    """The tab in a real TensorBoard and a real Chromium."""
    return run_vitest("vitest.browser.config.ts")


def pytest() -> Tally:
    """The Python tests, and those that join all languages."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "pytest.xml"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                # Most of them wait: TensorFlow tries a refused allocation for 10 s.
                "--numprocesses=2",
                "--dist=loadscope",
                f"--junit-xml={report}",
            ],
            cwd=ROOT,
            check=False,
        )
        return read_junit(report)


def static_checks() -> Tally:
    """Formatting, style and types of every language; each checker counts as one."""
    done = subprocess.run(
        [ROOT / "tools/check"], stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False
    )
    print(done.stdout, end="", flush=True)
    lines = done.stdout.splitlines()
    passed = sum(line.startswith("ok ") for line in lines)
    failed = sum(line.startswith("FAILED ") for line in lines)
    return Tally(passed, max(failed, int(done.returncode != 0)))


RUNNERS: dict[str, tuple[str, Callable[[], Tally]]] = {
    "check": ("Formatting, style and types (tools/check)", static_checks),
    "cc": ("C++ (bazel test)", cc_tests),
    "asan": (
        "C++, address and undefined-behaviour sanitizers",
        cc_tests_with_address_sanitizer,
    ),
    "fuzz": ("Fuzzers (libFuzzer)", fuzzing),
    "tsan": ("C++, thread sanitizer", cc_tests_with_thread_sanitizer),
    "vitest": ("TypeScript (vitest)", vitest),
    "pytest": ("Python and end to end (pytest)", pytest),
    "browser": ("The tab in TensorBoard and Chromium (vitest)", browser),
}
