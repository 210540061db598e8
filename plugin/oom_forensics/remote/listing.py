"""Which traces lie below a URL."""

from __future__ import annotations

from dataclasses import dataclass

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
    return sorted(
        (
            RemoteFile(
                tuple(part for part in path[len(root) :].split("/") if part),
                int(info.get("size") or 0),
                modified_ns(info),
                content_tag(info),
            )
            for path, info in found.items()
            if path.endswith(suffix)
        ),
        key=lambda file: file.parts,
    )
