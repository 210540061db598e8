"""Error numbers as WASI has them, whatever the system's are."""

from __future__ import annotations

import errno

_IO = 29
_BY_NAME = {
    "EACCES": 2,
    "EBADF": 8,
    "EEXIST": 20,
    "EINVAL": 28,
    "EIO": _IO,
    "EISDIR": 31,
    "ELOOP": 32,
    "ENAMETOOLONG": 37,
    "ENOENT": 44,
    "ENOMEM": 48,
    "ENOSPC": 51,
    "ENOTDIR": 54,
    "EPERM": 63,
    "EPIPE": 64,
    "EROFS": 69,
    "ESPIPE": 70,
}


def wasi_error(error: OSError) -> int:
    """Returns the number of an error; that of an input or output error if it has no own."""
    return _BY_NAME.get(errno.errorcode.get(error.errno or 0, ""), _IO)
