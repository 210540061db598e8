"""How much memory this process may use: the machine's, or less in a container."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_FALLBACK_BYTES = 8 << 30
"""Where the system does not say."""


def usable_bytes(cgroup: Path = _CGROUP) -> int:
    """Returns the machine's memory, or the limit of the control group if that is less.

    Args:
      cgroup: where the control group's files are; inside a container they are its own.
    """
    return min([_machine_bytes(), *_cgroup_limits(cgroup)])


def _machine_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _FALLBACK_BYTES


def _cgroup_limits(cgroup: Path) -> list[int]:
    """The limits of version 2 and of version 1, as far as there are any."""
    limits = []
    for file in _own_groups(cgroup):
        try:
            limit = int(file.read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if limit > 0:
            limits.append(limit)
    return limits


def _own_groups(cgroup: Path) -> list[Path]:
    """The files that limit this process, its own group's and those above it."""
    files = [cgroup / "memory.max", cgroup / "memory/memory.limit_in_bytes"]
    try:
        lines = Path("/proc/self/cgroup").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return files
    for line in lines:
        _, controllers, path = line.split(":", 2)
        names = Path(path.lstrip("/"))
        for group in (names, *names.parents):
            if controllers == "":
                files.append(cgroup / group / "memory.max")
            elif "memory" in controllers.split(","):
                files.append(cgroup / "memory" / group / "memory.limit_in_bytes")
    return files
