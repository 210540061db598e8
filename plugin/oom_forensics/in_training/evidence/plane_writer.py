"""Writes a plane of a trace; the only place in Python that builds an XSpace.

Messages are TensorFlow's own (`xplane_pb2` comes with it).
"""

from __future__ import annotations

from typing import Any


class PlaneWriter:
    """Builds one plane. The bytes of several writers can be joined into one XSpace."""

    def __init__(self, name: str, first_id: int = 1) -> None:
        """Begins an empty plane.

        Args:
          name: The plane's name.
          first_id: The id of the first record that is added without one.
        """
        from tensorflow.tsl.profiler.protobuf import xplane_pb2

        self._space = xplane_pb2.XSpace()
        self._plane = self._space.planes.add(name=name)
        self._next_id = first_id
        self._stats: dict[str, int] = {}

    def add_record(self, name: str, display_name: str = "", record_id: int | None = None) -> Any:
        """Adds an event metadata and returns it."""
        if record_id is None:
            record_id = self._next_id
            self._next_id += 1
        record = self._plane.event_metadata[record_id]
        record.id = record_id
        record.name = name
        record.display_name = _in_utf8(display_name)
        return record

    def add_line(self, name: str) -> Any:
        """Adds a line, whose id is its place, and returns it."""
        return self._plane.lines.add(name=name, id=len(self._plane.lines) + 1)

    def add_text(self, owner: Any, name: str, value: str) -> None:
        """Adds a text to a record or an event."""
        owner.stats.add(metadata_id=self._stat_id(name), str_value=_in_utf8(value))

    def add_int64(self, owner: Any, name: str, value: int) -> None:
        """Adds a signed number to a record or an event."""
        owner.stats.add(metadata_id=self._stat_id(name), int64_value=value)

    def add_uint64(self, owner: Any, name: str, value: int) -> None:
        """Adds an unsigned number to a record or an event."""
        owner.stats.add(metadata_id=self._stat_id(name), uint64_value=value)

    def add_bytes(self, owner: Any, name: str, value: bytes) -> None:
        """Adds bytes to a record or an event."""
        owner.stats.add(metadata_id=self._stat_id(name), bytes_value=value)

    def is_empty(self) -> bool:
        """Whether the plane has no record."""
        return not self._plane.event_metadata

    def serialized(self) -> bytes:
        """Returns an XSpace with the plane."""
        return bytes(self._space.SerializeToString())

    def _stat_id(self, name: str) -> int:
        known = self._stats.get(name)
        if known is None:
            known = self._stats[name] = len(self._stats) + 1
            self._plane.stat_metadata[known].id = known
            self._plane.stat_metadata[known].name = name
        return known


def _in_utf8(text: str) -> str:
    """Text as protobuf takes it: what stands for a byte of a file's name becomes a "?"."""
    return text.encode(errors="replace").decode()
