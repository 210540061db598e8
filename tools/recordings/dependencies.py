"""What a recorded job comes of: all that can make it leave something else."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from pathlib import Path
from typing import NamedTuple

# What of an environment is built from this repository; of the rest names and versions are enough.
_OURS = ("oom_forensics", "tensorflow-plugins")
# What only looks at recordings.
_NOT_IN_JOBS = ("__pycache__", "static")
# Variables of this process that TensorFlow, XLA and the collector go by.
SWITCHES = ("TF_", "XLA_", "OOM_FORENSICS", "KERAS_", "CUDA_", "OMP_")


class Job(NamedTuple):
    """A job that can be recorded."""

    # The interpreter first.
    command: tuple[str, ...]
    environment: dict[str, str]
    # Files, and folders for the Python in them.
    sources: tuple[Path, ...]


def key_of(job: Job) -> str:
    """Returns a hash of all that a job comes of, and of where it lies: runs hold paths."""
    switches = {k: v for k, v in os.environ.items() if k.startswith(SWITCHES)}
    imported = job.environment.get("PYTHONPATH", "").split(os.pathsep)
    packages = [*_site_packages(job.command[0]), *map(Path, filter(None, imported))]
    told = [
        job.command,
        sorted(job.environment.items()),
        sorted(switches.items()),
        [(str(source), _content(source)) for source in job.sources],
        [(str(folder), *_installed(folder)) for folder in packages],
        (platform.machine(), platform.release(), os.cpu_count()),
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


def _site_packages(python: str) -> list[Path]:
    """Of the virtual environment of an interpreter."""
    return sorted(Path(python).parent.parent.glob("lib/python*/site-packages"))


@functools.cache
def _installed(folder: Path) -> tuple[str, ...]:
    """Packages by name and version, and what is ours by its content."""
    names = sorted(path.name for path in folder.glob("*.dist-info"))
    return *names, *(_content(folder / name, "*") for name in _OURS)


def _content(path: Path, pattern: str = "*.py") -> str:
    """Returns a hash of a file, or of those in a folder and below it that have such a name."""
    files = sorted(path.rglob(pattern)) if path.is_dir() else [path]
    summed = hashlib.sha256()
    for file in files:
        if file.is_file() and not set(file.relative_to(path).parts) & {*_NOT_IN_JOBS}:
            summed.update(str(file.relative_to(path)).encode() + b"\0")
            summed.update(hashlib.sha256(file.read_bytes()).digest())
    return summed.hexdigest()
