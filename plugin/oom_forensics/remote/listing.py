"""Which traces lie below a URL, or at what a pattern means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oom_forensics.remote.details import content_tag, modified_ns
from oom_forensics.remote.filesystems import open_filesystem, told_of


@dataclass(frozen=True)
class RemoteFile:
    """A file below a URL."""

    parts: tuple[str, ...]
    """Its path from the URL; empty for the URL itself."""
    size_bytes: int
    modified_ns: int
    """Since the epoch; 0 where the storage does not say."""
    tag: str
    """Differs with the content, where the storage has such a thing."""


def files_below(url: str, suffix: str) -> list[RemoteFile]:
    """Returns the files below a URL whose names end with `suffix`, sorted.

    Raises:
      RemoteError: it cannot be listed; the sentence says why.
    """
    filesystem, root = open_filesystem(url)
    with told_of(url):
        # What was listed before may be kept in memory, and be old.
        filesystem.invalidate_cache()
        found = filesystem.find(root, detail=True)
    files = [_file(path[len(root) :], found[path]) for path in found if path.endswith(suffix)]
    return sorted(files, key=lambda file: file.parts)


def files_meant(pattern: str, suffix: str) -> dict[str, RemoteFile]:
    """Returns URL → file of the files with `suffix` that a file, a folder or a glob means.

    A pattern may also be a path of this machine, and its files' URLs are paths then.

    Raises:
      RemoteError: it cannot be looked up; the sentence says why.
    """
    filesystem, path = open_filesystem(pattern)
    with told_of(pattern):
        found: dict[str, Mapping[str, Any]] = {}
        for hit in filesystem.glob(path) if any(sign in path for sign in "*?[") else [path]:
            if hit.endswith(suffix):
                found[hit] = filesystem.info(hit)
            else:
                found |= filesystem.find(hit, detail=True)
        return {
            filesystem.unstrip_protocol(path).removeprefix("file://"): _file(path, details)
            for path, details in found.items()
            if path.endswith(suffix)
        }


def _file(path: str, details: Mapping[str, Any]) -> RemoteFile:
    return RemoteFile(
        tuple(part for part in path.split("/") if part),
        int(details.get("size") or 0),
        modified_ns(details),
        content_tag(details),
    )
