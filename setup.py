"""Builds the wheel: the Python package, the converter, the tab; and the collector.

The built parts come from Bazel. `tools/build` puts them into plugin/; from there they
are ordinary package data. Which wheel it is says OOM_FORENSICS_WHEEL:

    everything    all of it, for the platforms that have the glibc which its binaries need
                  (`py3-none-manylinux_<glibc>_<machine>`): what `pip install .` installs
    viewer        what reads and shows traces on any platform, with the converter as WebAssembly
                  (`py3-none-any`); tools/release makes it, and that of the collector beside it
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
sys.path.insert(0, str(ROOT / "tools"))

from wheels.builds import version_of  # noqa: E402
from wheels.platform_wheel import PlatformDistribution, platform_wheel  # noqa: E402

WHEEL = os.environ.get("OOM_FORENSICS_WHEEL") or "everything"
if WHEEL not in ("everything", "viewer"):
    sys.exit(f"oom-forensics: OOM_FORENSICS_WHEEL={WHEEL} is neither everything nor viewer.")
IS_VIEWER = WHEEL == "viewer"
STATIC = "plugin/oom_forensics/static"
LIBRARIES = (
    "plugin/tensorflow-plugins/liboom_forensics_loader.so",
    "plugin/tensorflow-plugins/oom_forensics/liboom_forensics_collector.so",
)
NATIVE = ("plugin/oom_forensics/bin/oom-forensics", *LIBRARIES)
MODULES = (f"{STATIC}/converter.wasm", f"{STATIC}/program.wasm")
STAGED = (f"{STATIC}/index.js", *(MODULES if IS_VIEWER else NATIVE))
EXTRAS = {
    # The whole wheel has the collector itself.
    "tensorflow": [f"oom-forensics-collector=={version_of(ROOT)}"] if IS_VIEWER else [],
    "pandas": ["pandas>=2"],
    "parquet": ["pyarrow>=14"],
    "fleet": ["pyspark>=4.0", "pyarrow>=14", "duckdb>=1.1", "fsspec[s3,gs]>=2024.10"],
    "mcp": ["mcp>=2"],
    "metrics": ["prometheus-client>=0.20"],
    "remote": ["fsspec>=2023.1", "s3fs>=2023.1", "gcsfs>=2023.1"],
}


def stage_built_parts() -> None:
    """Builds what Bazel builds, or ends with one sentence that says what to do."""
    missing = [path for path in STAGED if not (ROOT / path).exists()]
    if shutil.which("bazel"):
        # pip's isolated environment must not leak into the python3 that Bazel runs.
        hidden = ("PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME")
        environment = {k: v for k, v in os.environ.items() if k not in hidden}
        if IS_VIEWER:
            environment["OOM_FORENSICS_WASM"] = "1"
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


class ViewerWheel(bdist_wheel):
    """Names the wheel for every platform and every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """Returns python tag, ABI tag and platform tag."""
        return "py3", "none", "any"


setup(
    cmdclass={
        "build_py": BuildPy,
        "bdist_wheel": ViewerWheel
        if IS_VIEWER
        else platform_wheel([ROOT / path for path in LIBRARIES]),
    },
    distclass=Distribution if IS_VIEWER else PlatformDistribution,
    install_requires=[
        "tensorboard>=2.15",
        "rich>=13",
        'tomli>=2; python_version < "3.11"',
        *(["wasmtime>=50"] if IS_VIEWER else []),
    ],
    extras_require=EXTRAS,
    packages=[
        "oom_forensics",
        "oom_forensics.agent",
        "oom_forensics.cli",
        "oom_forensics.converter",
        "oom_forensics.core",
        "oom_forensics.fleet",
        "oom_forensics.gate",
        "oom_forensics.in_training",
        "oom_forensics.in_training.evidence",
        "oom_forensics.in_training.keepers",
        "oom_forensics.in_training.source",
        "oom_forensics.in_training.step_forecast",
        "oom_forensics.live",
        "oom_forensics.logdir",
        "oom_forensics.remote",
        "oom_forensics.tensorboard",
        "oom_forensics.trace",
        "oom_forensics.webassembly",
        *([] if IS_VIEWER else ["tensorflow-plugins"]),
    ],
    package_dir={"": "plugin"},
    package_data={
        "oom_forensics.agent": ["SKILL.md"],
        "oom_forensics.fleet": ["sql/*.sql"],
        "oom_forensics.live": ["dashboards/*.json"],
        "oom_forensics": [
            "py.typed",
            "static/*",
            "static/**/*",
            *([] if IS_VIEWER else ["bin/*"]),
        ],
        "tensorflow-plugins": ["*.so", "oom_forensics/*.so"],
    },
)
