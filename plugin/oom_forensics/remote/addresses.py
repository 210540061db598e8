"""What is a URL, and what is a path of this machine."""

from __future__ import annotations

import os
import re

from oom_forensics.core.errors import OomForensicsError

_URL = re.compile(r"[a-zA-Z][0-9a-zA-Z.+-]*://.*", re.DOTALL)


class RemoteError(OomForensicsError):
    """A URL cannot be read or written; the message is one sentence."""


def is_url(path: str) -> bool:
    """Whether it is `scheme://...`, of which no folder may ever be made."""
    return _URL.match(path) is not None


def whole_path(path: str) -> str:
    """Returns a path from the root of the disk; a URL stays one, without its last slash."""
    return path.rstrip("/") if is_url(path) else os.path.abspath(os.path.expanduser(path))
