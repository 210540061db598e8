"""Builds the wheels of a source tree; nothing outside of the folders that are given is touched."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from wheels.sources import source_date

Kind = Literal["everything", "viewer"]
_COLLECTOR = Path("tools/wheels/collector")


class BuildError(RuntimeError):
    """A wheel could not be built; the message is what the build said."""


def version_of(source: Path) -> str:
    """Returns the version of all packages of a source tree."""
    text = (source / "plugin/oom_forensics/__init__.py").read_text()
    found = re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    assert found is not None  # noqa: S101
    return found[1]


def build_wheel(source: Path, kind: Kind, output: Path, path: str | None = None) -> Path:
    """Builds the wheel of a kind from the root of a source tree; see setup.py.

    Args:
      source: the tree; whatever Bazel has not built there yet is built.
      kind: which.
      output: the folder that it is written to.
      path: PATH, where it is not this process's; without Bazel nothing is built.

    Raises:
      BuildError: it could not be built.
    """
    environment = {"OOM_FORENSICS_WHEEL": kind} | ({} if path is None else {"PATH": path})
    return _pip_wheel(source, output, environment)


def build_collector(source: Path, output: Path) -> Path:
    """Builds the wheel of the collector of a tree in which everything is built.

    Raises:
      BuildError: it could not be built.
    """
    with tempfile.TemporaryDirectory() as folder:
        assembled = Path(folder)
        shutil.copytree(source / _COLLECTOR, assembled, dirs_exist_ok=True)
        shutil.copy(source / "LICENSE", assembled)
        shutil.copy(source / "tools/wheels/platform_wheel.py", assembled)
        (assembled / "VERSION").write_text(version_of(source))
        program = assembled / "oom_forensics_collector/bin/oom-forensics"
        program.parent.mkdir()
        shutil.copy(source / "plugin/oom_forensics/bin/oom-forensics", program)
        plugins = Path("tensorflow-plugins")
        shutil.copytree(source / "plugin" / plugins, assembled / plugins)
        return _pip_wheel(assembled, output, {})


def _pip_wheel(source: Path, output: Path, environment: dict[str, str]) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run(
            [*command, "--wheel-dir", folder, source],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(source_date()), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode != 0:
            raise BuildError(built.stdout + built.stderr)
        (wheel,) = Path(folder).glob("*.whl")
        output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, output / wheel.name))
