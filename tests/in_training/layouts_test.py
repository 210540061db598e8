"""Stacks and the heap are read right out of each CPython whose layout is known, and no other.

The collector's code that reads Python is built alone, so that no TensorFlow is needed; each
interpreter that is found runs `scripts/take_stacks.py` and `scripts/read_heap.py` with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "scripts" / "take_stacks.py"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
SOURCES = (
    *sorted((ROOT / "collector/python").glob("*.cc")),
    *sorted((ROOT / "collector/python/testing").glob("*.cc")),
    ROOT / "collector/recording/stack_table.cc",
)


def build(folder: Path, *options: str) -> Path:
    """Builds the probe; skips where there is no compiler."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    library = folder / "stack_probe.so"
    sources = [str(source) for source in SOURCES if not source.name.endswith("_test.cc")]
    subprocess.run(
        [
            *(compiler, "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", *options),
            *(f"-I{ROOT}", *sources, "-o", str(library), "-ldl", "-lpthread"),
        ],
        check=True,
    )
    return library


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("probe"), "-O2")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_way_to_run_code_has_the_stack_that_python_tells(
    probe: Path, version: str, interpreter: Callable[[str], str]
) -> None:
    done = subprocess.run(
        [interpreter(version), "-W", "ignore", str(SCRIPT), str(probe)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_the_heap_is_what_python_tells_of_it(
    probe: Path, version: str, interpreter: Callable[[str], str]
) -> None:
    done = subprocess.run(
        [interpreter(version), str(SCRIPT.with_name("read_heap.py")), str(probe)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("sanitizer", "runtime"), [("address", "libasan"), ("thread", "libtsan")])
def test_sanitizers_see_nothing_wrong_in_the_walk_over_live_frames(
    tmp_path: Path, sanitizer: str, runtime: str
) -> None:
    """With Python's own `malloc`, AddressSanitizer knows each object that is read."""
    library = build(tmp_path, "-O1", "-g1", f"-fsanitize={sanitizer}")
    found = subprocess.run(
        ["c++", f"-print-file-name={runtime}.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    without_randomness = shutil.which("setarch")
    if not Path(found).is_absolute() or without_randomness is None:
        pytest.skip(f"there is no {runtime}, or no setarch, which it needs under some kernels")
    script = [str(SCRIPT), str(library), "--no-fork"]
    # By reads that it would report, a wrong layout is found out.
    script.append("--no-other-layouts")
    done = subprocess.run(
        [without_randomness, "-R", "env", f"LD_PRELOAD={found}", sys.executable, *script],
        env={
            **os.environ,
            "PYTHONMALLOC": "malloc",
            "PYTHONWARNINGS": "ignore",
            "ASAN_OPTIONS": "detect_leaks=0",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
