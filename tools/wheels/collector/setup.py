"""Builds the wheel of the collector in a folder that tools/wheels/assembly.py has filled."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))

from platform_wheel import PlatformDistribution, platform_wheel

LIBRARIES = sorted(Path("tensorflow-plugins").rglob("*.so"))

setup(
    cmdclass={"bdist_wheel": platform_wheel(LIBRARIES)},
    distclass=PlatformDistribution,
    packages=["oom_forensics_collector", "tensorflow-plugins"],
    package_data={
        "oom_forensics_collector": ["bin/*"],
        "tensorflow-plugins": ["*.so", "oom_forensics/*.so"],
    },
)
