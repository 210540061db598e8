"""Whether a browser still waits for an answer.

A browser that drops a request closes its connection; a reverse proxy between does the
same. WSGI has no word for it, but werkzeug, TensorBoard's server, hands the socket on.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable, Mapping
from typing import Any


def still_there(environ: Mapping[str, Any]) -> Callable[[], bool] | None:
    """Returns a question to ask while working on a request; None where none can tell.

    Args:
      environ: of the request, as WSGI has it.
    """
    connection = environ.get("werkzeug.socket")
    if not isinstance(connection, socket.socket):
        return None
    return lambda: _is_open(connection)


def _is_open(connection: socket.socket) -> bool:
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            if not selector.select(timeout=0):
                return True
        # Readable: the next request of the connection, or its end.
        return connection.recv(1, socket.MSG_PEEK) != b""
    except (OSError, ValueError):
        return False
