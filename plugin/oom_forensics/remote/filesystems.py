"""Opens what a URL names with fsspec, and makes one sentence of whatever fails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from oom_forensics.remote.addresses import RemoteError


def open_filesystem(url: str) -> tuple[Any, str]:
    """Returns fsspec's file system of a URL, and the path in it.

    Raises:
      RemoteError: fsspec, or its part for this scheme, is not installed.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise RemoteError(
            f"To use {url} install fsspec: pip install 'oom-forensics[remote]'."
        ) from None
    with told_of(url):
        filesystem, path = url_to_fs(url)
        return filesystem, str(path).rstrip("/")


@contextlib.contextmanager
def told_of(url: str) -> Iterator[None]:
    """Makes a RemoteError of any exception: each file system has its own."""
    try:
        yield
    except RemoteError:
        raise
    except ImportError as error:
        raise RemoteError(f"To use {url} install what it needs: {_first_line(error)}") from error
    except Exception as error:
        raise RemoteError(f"{url} cannot be used: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
