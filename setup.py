"""Builds the wheel: the Python package, the converter, the collector, the tab.

The three built parts come from Bazel. `tools/build` puts them into plugin/; from
there they are ordinary package data, and the wheel fits any Python 3 of the
platform (`py3-none-<platform>`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
STAGED = (
    "plugin/oom_forensics/bin/oom-forensics",
    "plugin/oom_forensics/static/index.js",
    "plugin/tensorflow-plugins/liboom_forensics_collector.so",
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


class PlatformWheel(bdist_wheel):
    """Names the wheel for the platform, but for every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """Returns python tag, ABI tag and platform tag."""
        return "py3", "none", super().get_tag()[2]


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
        "tensorflow-plugins",
    ],
    package_dir={"": "plugin"},
    package_data={
        "oom_forensics.fleet": ["sql/*.sql"],
        "oom_forensics": ["py.typed", "bin/*", "static/*", "static/**/*"],
        "tensorflow-plugins": ["*.so"],
    },
)
