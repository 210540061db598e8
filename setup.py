"""Builds the wheel: the Python package, the converter, the collector, the tab.

The built parts come from Bazel. `tools/build` puts them into plugin/; from there they
are ordinary package data, and the wheel fits any Python 3 of the platforms that have
the glibc which they need (`py3-none-manylinux_<glibc>_<machine>`).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
STAGED = (
    "plugin/oom_forensics/bin/oom-forensics",
    "plugin/oom_forensics/static/index.js",
    "plugin/tensorflow-plugins/liboom_forensics_loader.so",
    "plugin/tensorflow-plugins/oom_forensics/liboom_forensics_collector.so",
)


def stage_built_parts() -> None:
    """Builds what Bazel builds, or ends with one sentence that says what to do."""
    missing = [path for path in STAGED if not (ROOT / path).exists()]
    if shutil.which("bazel"):
        # pip's isolated environment must not leak into the python3 that Bazel runs.
        hidden = ("PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME")
        environment = {k: v for k, v in os.environ.items() if k not in hidden}
        subprocess.run([ROOT / "tools/build"], check=True, cwd=ROOT, env=environment)
    elif missing:
        sys.exit(
            "oom-forensics: its C++ and TypeScript parts are not built and Bazel is"
            f" not installed; run {ROOT / 'tools/setup'} once, then pip install again."
        )


class BuildPy(build_py):
    """Adds the built parts and leaves the tests that stand beside the code out."""

    def run(self) -> None:
        """Stages the built parts first; an earlier build must not leak into this."""
        stage_built_parts()
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Lists the modules of a package that a user needs."""
        modules = super().find_package_modules(package, package_dir)  # type: ignore[no-untyped-call]
        return [m for m in modules if not m[1].endswith("_test") and m[1] != "conftest"]


def needed_glibc() -> tuple[int, int]:
    """Returns the oldest glibc that has all which the built parts ask of it."""
    versions = {(2, 5)}
    for path in STAGED:
        if not path.endswith(".so"):
            continue  # The converter is static, the tab is text.
        with (ROOT / path).open("rb") as file:
            needed = ELFFile(file).get_section_by_name(".gnu.version_r")
            for _, names in needed.iter_versions():
                for name in names:
                    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", name.name)
                    if found:
                        versions.add((int(found[1]), int(found[2])))
    return max(versions)


class PlatformWheel(bdist_wheel):
    """Names the wheel for the platform that its binaries need, and for every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """Returns python tag, ABI tag and platform tag (PEP 600)."""
        major, minor = needed_glibc()
        return "py3", "none", f"manylinux_{major}_{minor}_{platform.machine()}"


class PlatformDistribution(Distribution):
    """A distribution whose binaries are data, not extension modules."""

    def has_ext_modules(self) -> bool:
        """Makes the wheel a platform wheel; auditwheel refuses others."""
        return True


setup(
    cmdclass={"build_py": BuildPy, "bdist_wheel": PlatformWheel},
    distclass=PlatformDistribution,
    packages=[
        "oom_forensics",
        "oom_forensics.fleet",
        "oom_forensics.in_training",
        "oom_forensics.in_training.evidence",
        "oom_forensics.in_training.keepers",
        "oom_forensics.in_training.source",
        "oom_forensics.in_training.step_forecast",
        "oom_forensics.remote",
        "tensorflow-plugins",
    ],
    package_dir={"": "plugin"},
    package_data={
        "oom_forensics.fleet": ["sql/*.sql"],
        "oom_forensics": ["py.typed", "bin/*", "static/*", "static/**/*"],
        "tensorflow-plugins": ["*.so", "oom_forensics/*.so"],
    },
)
