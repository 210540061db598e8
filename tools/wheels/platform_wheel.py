"""Names a wheel for the platform that its binaries need, and for every Python 3."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from pathlib import Path

from elftools.elf.elffile import ELFFile
from setuptools import Distribution
from setuptools.command.bdist_wheel import bdist_wheel


def needed_glibc(libraries: Iterable[Path]) -> tuple[int, int]:
    """Returns the oldest glibc that has all which these shared libraries ask of it."""
    versions = {(2, 5)}
    for path in libraries:
        with path.open("rb") as file:
            needed = ELFFile(file).get_section_by_name(".gnu.version_r")
            for _, names in needed.iter_versions():
                for name in names:
                    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", name.name)
                    if found:
                        versions.add((int(found[1]), int(found[2])))
    return max(versions)


def platform_wheel(libraries: Iterable[Path]) -> type[bdist_wheel]:
    """Returns the command that makes a wheel in which these are what depends on the system."""

    class PlatformWheel(bdist_wheel):
        def get_tag(self) -> tuple[str, str, str]:
            """Returns python tag, ABI tag and platform tag (PEP 600)."""
            major, minor = needed_glibc(libraries)
            return "py3", "none", f"manylinux_{major}_{minor}_{platform.machine()}"

    return PlatformWheel


class PlatformDistribution(Distribution):
    """A distribution whose binaries are data, not extension modules."""

    def has_ext_modules(self) -> bool:
        """Makes the wheel a platform wheel; auditwheel refuses others."""
        return True
