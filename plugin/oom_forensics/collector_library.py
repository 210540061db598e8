"""The collector that TensorFlow loaded into this process.

TensorFlow loads every library in `site-packages/tensorflow-plugins/` by itself. This
module never loads one: it finds the one that is there and calls its C functions
(collector/c_api.h).
"""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

FILE_NAME = "liboom_forensics_collector.so"


def loaded_path() -> Path | None:
    """Returns the file of the collector in this process; None where there is none."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line[line.find("/") :]
        if path.endswith("/" + FILE_NAME):
            return Path(path)
    return None


class CollectorLibrary:
    """The C functions of a collector that is in this process."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._free = self._library.OomForensics_Free
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None

    @classmethod
    def loaded(cls) -> CollectorLibrary | None:
        """Returns the collector in this process; None where there is none."""
        path = loaded_path()
        return cls(path) if path else None

    def status(self) -> dict[str, Any]:
        """Returns what is hooked in this process and what not, and why."""
        return self._json_of("OomForensics_Status")

    def _json_of(self, function_name: str) -> dict[str, Any]:
        """Calls a function that returns a JSON object for its caller to free."""
        function = getattr(self._library, function_name)
        function.restype = ctypes.c_void_p
        text = function()
        try:
            answer: dict[str, Any] = json.loads(ctypes.string_at(text))
            return answer
        finally:
            self._free(text)
