"""The sources of the project as git knows them, in a folder and as an archive."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What tools/build puts into the tree.
STAGED_FOLDERS = (
    "plugin/oom_forensics/bin",
    "plugin/oom_forensics/static",
    "plugin/tensorflow-plugins",
)


def source_files() -> list[str]:
    """Returns the paths of all files of the project, new ones too, below its root; sorted."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    return sorted({path for path in listed if (ROOT / path).is_file()})


def copy_sources(folder: Path) -> None:
    """Copies them."""
    for path in source_files():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)


def copy_staged(folder: Path) -> None:
    """Copies what tools/build has put into the tree, so that nothing is to be built in `folder`."""
    for path in STAGED_FOLDERS:
        shutil.copytree(ROOT / path, folder / path, dirs_exist_ok=True)


def source_date() -> int:
    """Returns when the sources were committed last, in s since the epoch: the time of what is made.

    SOURCE_DATE_EPOCH says otherwise.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.check_output(command, cwd=ROOT, text=True))


def write_archive(name: str, metadata: str, file: Path) -> None:
    """Writes them as a .tar.gz with all in a folder `name`, the same bytes for the same files.

    Args:
      name: "oom_forensics-0.1.0", of which PyPI wants the archive to be made.
      metadata: the text of PKG-INFO.
      file: where to write it.
    """
    date = source_date()
    with (
        file.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=date) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):

        def add(path: str, data: bytes, mode: int) -> None:
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), date, mode
            archive.addfile(entry, io.BytesIO(data))

        add("PKG-INFO", metadata.encode(), 0o644)
        for path in source_files():
            is_program = os.access(ROOT / path, os.X_OK)
            add(path, (ROOT / path).read_bytes(), 0o755 if is_program else 0o644)
