"""The other interpreters that there may be on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Interpreter = Callable[[str], str]


@pytest.fixture(scope="session")
def interpreter() -> Interpreter:
    """Returns a Python of a version; skips where there is none."""

    def find(version: str) -> str:
        if sys.version.startswith(version + "."):
            return sys.executable
        pyenv = shutil.which("pyenv")
        if pyenv is not None:
            root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True)
            for found in sorted(Path(root.stdout.strip()).glob(f"versions/{version}.*/bin/python")):
                return str(found)
        pytest.skip(f"there is no Python {version} here")

    return find
