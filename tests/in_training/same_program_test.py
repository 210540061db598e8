"""A program prints the same with the collector and without it.

The programs are those in `same_program/`. They run with OOM_FORENSICS=0 and 1 on this TensorFlow,
on the oldest one that is supported, and on each interpreter that OOM_FORENSICS_TEST_PYTHONS names
(paths with colons between them), as `tools/versions/make_environment` makes them.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from versions import oldest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((Path(__file__).parent / "same_program").glob("*.py"))
# Where tools/setup puts tf_keras, which this environment's own programs do not see.
KERAS2 = Path(sys.prefix) / "keras2"
IN_KERNEL = Path(__file__).parent / "scripts/in_kernel.py"
# What differs between two runs of the same program.
_ADDRESSES = re.compile(r"0x[0-9a-f]{6,}|/tmp/tmp\w+|_\d{2,}\b")

_PYTHONS: dict[str, Callable[[], str | Path]] = {
    "this TensorFlow": lambda: sys.executable,
    f"TensorFlow {oldest.VERSION}": oldest.python_with_collector,
}
for _path in filter(None, os.environ.get("OOM_FORENSICS_TEST_PYTHONS", "").split(":")):
    _PYTHONS[_path] = lambda path=_path: path  # type: ignore[misc]


def printed(
    python: str | Path, program: Path, environment: dict[str, str], switch: str, *by: Path
) -> tuple[int, list[str]]:
    """Returns the exit code and what it printed, run by another program if one is given."""
    paths = [] if python == sys.executable else [ROOT / "plugin"]
    if python == sys.executable and environment.get("TF_USE_LEGACY_KERAS") == "1":
        paths = [KERAS2]
    done = subprocess.run(
        [python, *by, program],
        env={
            **os.environ,
            **environment,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "OOM_FORENSICS": switch,
            "PYTHONHASHSEED": "1",
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, _ADDRESSES.sub("…", done.stdout).splitlines()


@pytest.mark.parametrize("legacy_keras", ["0", "1"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
@pytest.mark.parametrize("name", _PYTHONS)
def test_it_prints_the_same(
    name: str,
    program: Path,
    legacy_keras: str,
    bfc_environment: dict[str, str],
    tmp_path: Path,
) -> None:
    if legacy_keras == "1" and program.stem not in ("models", "signatures"):
        pytest.skip("it has no Keras")
    python = _PYTHONS[name]()
    if legacy_keras == "1" and python != sys.executable:
        there = subprocess.run([python, "-c", "import tf_keras"], capture_output=True, check=False)
        if there.returncode != 0:
            pytest.skip("there is no tf_keras")
    environment = {
        **bfc_environment,
        "TF_USE_LEGACY_KERAS": legacy_keras,
        "OOM_FORENSICS_LOGDIR": str(tmp_path),
        # Each out-of-memory of a program is looked at.
        "OOM_FORENSICS_MAX_REPORTS": "20",
    }
    without = printed(python, program, environment, "0")
    with_it = printed(python, program, environment, "1")
    assert len(without[1]) > 5
    assert "\n".join(difflib.unified_diff(without[1], with_it[1], lineterm="", n=0)) == ""
    assert without[0] == with_it[0]


@pytest.mark.parametrize("name", ["errors", "signatures", "variables"])
def test_it_prints_the_same_in_jupyter(
    name: str, bfc_environment: dict[str, str], tmp_path: Path
) -> None:
    (program,) = (each for each in PROGRAMS if each.stem == name)
    environment = {**bfc_environment, "OOM_FORENSICS_LOGDIR": str(tmp_path)}
    without = printed(sys.executable, program, environment, "0", IN_KERNEL)
    with_it = printed(sys.executable, program, environment, "1", IN_KERNEL)
    assert len(without[1]) > 5
    assert "\n".join(difflib.unified_diff(without[1], with_it[1], lineterm="", n=0)) == ""
    assert without[0] == with_it[0] == 0
