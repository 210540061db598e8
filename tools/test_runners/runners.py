"""What runs the tests of each kind, and counts them."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from test_runners import bazel, fuzzers, module_tests
from test_runners.tally import Tally, read_junit

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
# What `tools/setup wasm` writes last.
WASM_SETUP = ROOT / ".cache/wasm/.node-packages.sha256"

# Where threads meet; in the other packages there is nothing for a race to be in.
PACKAGES_WITH_THREADS = [
    "//collector/...",
    "//converter/reader/...",
    "//converter/replay/...",
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
        # So that each file is seen to include what it needs, and each package to name it.
        by_file=True,
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


def stage_wasm() -> bool:
    """Builds the converter as WebAssembly, and puts it into the tree and into what is installed."""
    if subprocess.run([ROOT / "tools/build", "wasm"], cwd=ROOT, check=False).returncode:
        return False
    # Into the package that is installed already: others run it meanwhile.
    package = importlib.util.find_spec("oom_forensics")
    if package is None or package.origin is None:
        return False
    staged, installed = ROOT / "plugin/oom_forensics/static", Path(package.origin).parent / "static"
    for module in staged.glob("*.wasm"):
        shutil.copyfile(module, installed / module.name)
    return True


def wasm() -> Tally:
    """The unit tests as WebAssembly, and the converter beside the program.

    It is built and installed for what follows.
    """
    if not WASM_SETUP.exists():
        print("It cannot be built here: see what tools/setup wasm says.", flush=True)
        return Tally(skipped=1)
    if not stage_wasm():
        return Tally(failed=1)
    return module_tests.run(ROOT) + run_vitest("vitest.wasm.config.ts")


def pytest() -> Tally:
    """The tests of the Python rooms, each beside its module."""
    return run_pytest("plugin", "tools")


def jobs() -> Tally:
    """Those that join all languages, most of them by a job that runs out of memory."""
    return run_pytest("tests")


def pages() -> Tally:
    """What holds the converter as WebAssembly: pages, the wheel for viewing, the command of it."""
    # Whether or not `wasm` ran before.
    if WASM_SETUP.exists() and not stage_wasm():
        return Tally(failed=1)
    return run_pytest("plugin", "tools", "tests", marked="page")


def run_pytest(*paths: str, marked: str = "not page") -> Tally:
    """Runs the Python tests of some paths whose marks fit."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "pytest.xml"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-m",
                marked,
                # Most of them wait: TensorFlow tries a refused allocation for 10 s.
                "--numprocesses=2",
                "--dist=loadscope",
                # In the order of tests/conftest.py, not the files with the most tests first.
                "--no-loadscope-reorder",
                "--durations=20",
                f"--junit-xml={report}",
                *paths,
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
    "wasm": ("The converter as WebAssembly (GoogleTest, vitest)", wasm),
    "vitest": ("TypeScript (vitest)", vitest),
    "pytest": ("Python (pytest)", pytest),
    "jobs": ("End to end, with real jobs (pytest)", jobs),
    "pages": ("Pages, and all without native code (pytest)", pages),
    "browser": ("The tab in TensorBoard and Chromium (vitest)", browser),
}
