"""What fsspec's file systems tell of a file, each in words of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

_WRITTEN = ("mtime", "LastModified", "last_modified", "updated", "created")
_TAGS = ("ETag", "etag", "md5Hash")


def modified_ns(details: Mapping[str, Any]) -> int:
    """Returns when a file was written (ns since the epoch; 0: not told)."""
    for name in _WRITTEN:
        moment = details.get(name)
        if isinstance(moment, str):
            try:
                moment = datetime.fromisoformat(moment.replace("Z", "+00:00"))
            except ValueError:
                continue
        if isinstance(moment, datetime):
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=timezone.utc)
            moment = moment.timestamp()
        if isinstance(moment, int | float):
            return int(moment * 1e9)
    return 0


def content_tag(details: Mapping[str, Any]) -> str:
    """Returns what differs with a file's content; empty where the storage has no such thing."""
    return next((str(details[name]) for name in _TAGS if details.get(name)), "")
