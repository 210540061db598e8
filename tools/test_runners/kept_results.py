"""What runners found, kept for as long as nothing changes, as Bazel keeps what its own tests found.

`tools/test` counts what is kept instead of running it again, and says so; a runner that is named
runs. Only what passed whole is kept (below `.cache/`), under a key of everything it depends on: all
files of the tree that git does not ignore, from which `tools/test` builds and installs what is
tested, the Python and Debian packages, and the settings in the environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sysconfig
import time
from dataclasses import asdict
from pathlib import Path

from recordings.dependencies import SWITCHES

from test_runners.tally import Tally

FOLDER = Path(".cache/test-results")
_DEBIAN_PACKAGES = Path("/var/lib/dpkg/status")


def key_of(root: Path) -> str:
    """Returns the key of the tree at `root`, as it is now, on this machine."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE,
        cwd=root,
        check=True,
    ).stdout
    digest = hashlib.sha256()
    for name in sorted(set(files.split(b"\0"))):
        file = root / os.fsdecode(name)
        if file.is_file():
            digest.update(name + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    digest.update(platform.python_version().encode())
    digest.update("\0".join(sorted(os.listdir(sysconfig.get_path("purelib")))).encode())
    if _DEBIAN_PACKAGES.exists():
        digest.update(_DEBIAN_PACKAGES.read_bytes())
    for variable, value in sorted(os.environ.items()):
        if variable.startswith(SWITCHES):
            digest.update(f"{variable}={value}\0".encode())
    return digest.hexdigest()


def kept(root: Path, runner: str, key: str) -> tuple[Tally, str] | None:
    """Returns what `runner` found under this key, and when; None where it must run."""
    try:
        read = json.loads((root / FOLDER / f"{runner}.json").read_text())
    except (OSError, ValueError):
        return None
    return (Tally(**read["tally"]), read["ended"]) if read["key"] == key else None


def keep(root: Path, runner: str, key: str, tally: Tally) -> None:
    """Keeps what a runner found that began under `key`, if all passed and nothing changed since."""
    if tally.failed or not tally.passed or key_of(root) != key:
        return
    file = root / FOLDER / f"{runner}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    ended = time.strftime("%Y-%m-%d %H:%M:%S")
    file.write_text(json.dumps({"key": key, "ended": ended, "tally": asdict(tally)}))
