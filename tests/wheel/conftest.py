"""A built source tree to make wheels of, and clean environments to install them into."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from wheels.builds import build_collector, build_wheel
from wheels.sources import copy_sources, copy_staged

# The repository in which tools/release has made what is to be tested.
_RELEASED = os.environ.get("OOM_FORENSICS_RELEASE")
# What belongs to this project in site-packages; the rest a new environment shares with this one.
OURS = ("oom_forensics", "tensorflow-plugins")


@pytest.fixture(scope="session")
def built_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with what tools/build has built, as a tree of its own.

    Others use the real one while wheels are made.
    """
    if _RELEASED:
        return Path(_RELEASED) / "build/release/source"
    folder = tmp_path_factory.mktemp("source")
    copy_sources(folder)
    copy_staged(folder)
    return folder


@pytest.fixture(scope="session")
def without_bazel() -> str:
    """A PATH on which there is no Bazel: nothing is built again."""
    return str(Path(sys.executable).parent)


@pytest.fixture(scope="session")
def viewer(
    built_source: Path, without_bazel: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The wheel for viewing."""
    if _RELEASED:
        (wheel,) = Path(_RELEASED).glob("dist/oom_forensics-*.whl")
        return wheel
    folder = tmp_path_factory.mktemp("viewer")
    return build_wheel(built_source, "viewer", folder, path=without_bazel)


@pytest.fixture(scope="session")
def collector(built_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the collector."""
    if _RELEASED:
        (wheel,) = Path(_RELEASED).glob("dist/oom_forensics_collector-*.whl")
        return wheel
    return build_collector(built_source, tmp_path_factory.mktemp("collector"))


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """Runs a program that must succeed and returns what it printed."""

    def run(program: Path, *arguments: str | Path, **environment: str) -> str:
        done = subprocess.run(
            [program, *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes an environment with some wheels and nothing else of ours; returns its Python."""

    def make(*wheels: Path, without: tuple[str, ...] = ()) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = folder / "bin/python"
        (site_packages,) = folder.glob("lib/python*/site-packages")
        # What is no part of it is linked in from the environment of the tests, not copied.
        (here,) = Path(sys.prefix).glob("lib/python*/site-packages")
        for entry in here.iterdir():
            target = site_packages / entry.name
            if not entry.name.startswith((*OURS, *without)) and not target.exists():
                target.symlink_to(entry)
        install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
        subprocess.run([python, *install, *wheels], check=True)
        return python

    return make
