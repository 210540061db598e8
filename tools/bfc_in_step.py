"""Builds and runs in_step.cc against an installed TensorFlow: its allocator and ours in step.

    tools/try_bfc_model [OPERATIONS] [FIRST_SEED]

runs it against every TensorFlow that is installed here: that of `.venv`, and the older ones of
`.cache` (`tools/setup`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [
    ROOT / "tests/bfc_model/in_step.cc",
    ROOT / "converter/bfc/bfc_model.cc",
    ROOT / "converter/bfc/bfc_regions.cc",
    ROOT / "converter/bfc/bfc_chunks.cc",
]


def tensorflows() -> dict[str, Path]:
    """The folder `tensorflow` of each installed version, by its number."""
    found = {}
    for environment in [Path(sys.prefix), *sorted(ROOT.glob(".cache/tensorflow-*"))]:
        for package in environment.glob("lib/python3*/site-packages/tensorflow"):
            for information in package.parent.glob("tensorflow*-*.dist-info"):
                name, version = information.name.removesuffix(".dist-info").split("-", 1)
                if name in ("tensorflow", "tensorflow_cpu"):
                    found[version] = package
    return found


def build(tensorflow: Path, program: Path, sources: list[Path] = SOURCES) -> None:
    """Compiles the program; raises CalledProcessError with the compiler's words."""
    subprocess.run(
        [
            "g++",
            "-std=c++17",
            "-O2",
            "-w",
            # To compare the whole pool, not only what the allocator tells.
            "-fno-access-control",
            "-DNDEBUG",
            f"-I{ROOT}",
            f"-isystem{tensorflow / 'include'}",
            *map(str, sources),
            f"-L{tensorflow}",
            "-l:libtensorflow_framework.so.2",
            "-ldl",
            "-lpthread",
            f"-Wl,-rpath,{tensorflow}",
            "-o",
            str(program),
        ],
        check=True,
        capture_output=True,
        text=True,
    )


def run(
    program: Path, operations: int, first_seed: int = 1, *collector: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Exit code 0 and "N operations alike", or 1 and what the first difference is."""
    return subprocess.run(
        [str(program), str(operations), str(first_seed), *map(str, collector)],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )


def main() -> int:
    """Runs it against every TensorFlow found; 1 where one of them differs."""
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    first_seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = False
    for version, folder in tensorflows().items():
        with tempfile.TemporaryDirectory() as scratch:
            program = Path(scratch) / "in_step"
            build(folder, program)
            done = run(program, operations, first_seed)
        print(f"TensorFlow {version}: {done.stdout.strip() or f'exit code {done.returncode}'}")
        failed = failed or done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
