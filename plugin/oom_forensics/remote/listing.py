"""Which traces lie below a URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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
    return sorted(
        (
            RemoteFile(
                tuple(part for part in path[len(root) :].split("/") if part),
                int(info.get("size") or 0),
                _modified_ns(info),
                str(info.get("ETag") or info.get("etag") or info.get("md5Hash") or ""),
            )
            for path, info in found.items()
            if path.endswith(suffix)
        ),
        key=lambda file: file.parts,
    )


def _modified_ns(info: Mapping[str, Any]) -> int:
    for name in ("LastModified", "last_modified", "mtime", "updated", "created"):
        value = info.get(name)
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value.replace("Z", "+00:00"))
            except ValueError:
                continue
        if isinstance(value, datetime):
            return int(value.timestamp() * 1e9)
        if isinstance(value, (int, float)):
            return int(value * 1e9)
    return 0
