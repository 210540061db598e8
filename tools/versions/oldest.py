"""The oldest TensorFlow that is supported, which tools/setup has installed beside the newest."""

from __future__ import annotations

import fcntl
import shutil
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = (ROOT / "tools/tensorflow_versions.txt").read_text().split()[-1]
_PLUGINS = "tensorflow-plugins"


def python_with_collector() -> str:
    """Puts the collector of this environment into that one; returns the interpreter there."""
    environment = ROOT / f".cache/tensorflow-{VERSION}"
    (site_packages,) = environment.glob("lib/python*/site-packages")
    ours, there = Path(sysconfig.get_path("purelib")) / _PLUGINS, site_packages / _PLUGINS
    # Not under the feet of a job that another process of the tests runs there.
    with (environment / ".collector.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _content(ours) != _content(there):
            shutil.rmtree(there, ignore_errors=True)
            shutil.copytree(ours, there)
    return str(environment / "bin/python")


def _content(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}
