"""Folders and files by URL, wherever they lie: fsspec's view of a local disk, S3, GCS, HDFS."""

from __future__ import annotations

import os
import posixpath
import uuid
from typing import Any

from oom_forensics.core.errors import OomForensicsError
from oom_forensics.remote.filesystems import open_filesystem


class FleetError(OomForensicsError):
    """A fleet cannot go on; the message is one sentence for the user."""


class Folder:
    """A folder that files are read from and written into, by their paths inside it."""

    def __init__(self, url: str) -> None:
        """Opens the folder; it need not exist yet.

        Args:
          url: a local path, or "s3://bucket/folder" and the like.
        """
        self.filesystem, self.path = open_filesystem(url)

    @property
    def is_local(self) -> bool:
        """Whether it lies on a disk of this machine."""
        return is_local(self.filesystem)

    def inside(self, name: str) -> str:
        """Returns the path of a file, as the file system names it."""
        return posixpath.join(self.path, name)

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder of it, sorted; none where it is missing."""
        try:
            # What another process wrote is not in a listing that was kept.
            self.filesystem.invalidate_cache()
            found = self.filesystem.ls(self.inside(folder), detail=False)
        except FileNotFoundError:
            return []
        return sorted(posixpath.basename(each) for each in found)

    def files_below(self, folder: str) -> dict[str, dict[str, Any]]:
        """Returns path inside → fsspec's details of all files below a folder of it."""
        self.filesystem.invalidate_cache()
        try:
            found = self.filesystem.find(self.inside(folder), detail=True)
        except FileNotFoundError:
            return {}
        return {posixpath.relpath(path, self.path): details for path, details in found.items()}

    def read(self, name: str) -> bytes:
        """Returns a file's content."""
        content: bytes = self.filesystem.cat_file(self.inside(name))
        return content

    def create(self, name: str, content: bytes) -> bool:
        """Writes a new file whole; False, and nothing done, where there is one already.

        Nobody ever sees a part of it. On object stores that do not know conditional writes
        two writers at the same instant are not told apart.
        """
        path = self.inside(name)
        if not self.is_local:
            try:
                self.filesystem.pipe_file(path, content, mode="create")
            except FileExistsError:
                return False
            except OSError:
                # s3fs tells a condition that does not hold like this.
                self.filesystem.invalidate_cache()
                if self.filesystem.exists(path):
                    return False
                raise
            return True
        os.makedirs(os.path.dirname(path), exist_ok=True)
        unfinished = f"{path}.{uuid.uuid4().hex}"
        try:
            with open(unfinished, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(unfinished, path)
        except FileExistsError:
            return False
        finally:
            if os.path.exists(unfinished):
                os.unlink(unfinished)
        return True

    def remove(self, names: list[str]) -> None:
        """Removes files; those that are gone already are no error."""
        for name in names:
            try:
                self.filesystem.rm_file(self.inside(name))
            except FileNotFoundError:
                continue


def is_local(filesystem: Any) -> bool:
    """Whether an fsspec file system is this machine's own."""
    protocol = filesystem.protocol
    return "file" in ((protocol,) if isinstance(protocol, str) else protocol)
