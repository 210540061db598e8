"""The plane `/oom_forensics:source` that Python appends to a run, see proto/event_schema.h.

Records are event metadata: stacks, ops, lines of text, keepers. Stacks are said once and
referred to by id. Ids begin where the collector's own end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oom_forensics.in_training.source.frames import Stack
from oom_forensics.in_training.source.keras_objects import KerasObject
from oom_forensics.in_training.source.line_texts import text_of
from oom_forensics.in_training.source.shown_paths import ShownPaths

PLANE = "/oom_forensics:source"
# Ids below are the collector's.
FIRST_PYTHON_STACK = 1 << 32
_SEPARATOR = "\x1f"
# Texts of lines in one run, and of one line.
_MOST_TEXTS = 2_000
_LONGEST_TEXT = 400


class SourcePlane:
    """Collects records and writes them as an XSpace with one plane.

    A run may have several such planes; `first_id` keeps their ids apart.
    """

    def __init__(self, paths: ShownPaths, first_id: int = FIRST_PYTHON_STACK) -> None:
        from tensorflow.tsl.profiler.protobuf import xplane_pb2

        self._space = xplane_pb2.XSpace()
        self._plane = self._space.planes.add(name=PLANE)
        self._paths = paths
        self._next_id = first_id
        self._stats: dict[str, int] = {}
        self._stacks: dict[Stack, int] = {}
        self._texts: set[tuple[str, int]] = set()

    def add_stack(self, stack: Stack) -> int:
        """Returns the id of a stack, which is written the first time."""
        known = self._stacks.get(stack)
        if known is not None:
            return known
        record = self._record("stack")
        for frame in stack:
            self._text_stat(
                record,
                "frame" if frame.is_user else "library_frame",
                _SEPARATOR.join((self._paths.shown(frame.file), str(frame.line), frame.function)),
            )
            if frame.is_user:
                self.add_text(frame.file, frame.line)
        self._stacks[stack] = int(record.id)
        return int(record.id)

    def add_op(self, name: str, stack: Stack, made: KerasObject | None) -> None:
        """Writes where an op comes from; what is empty is not known."""
        record = self._record("op", name)
        if stack:
            self._number_stat(record, "stack", self.add_stack(stack))
        if made is None:
            return
        if made.made_at:
            self._number_stat(record, "made_at_stack", self.add_stack(made.made_at))
        self._text_stat(record, "object", made.text)
        if made.is_optimizer:
            self._number_stat(record, "of_optimizer", 1)

    def add_size(self, size_bytes: int, stack: Stack) -> None:
        """Writes where that was made which asks for so many bytes outside of any op."""
        record = self._record("size")
        self._number_stat(record, "bytes", size_bytes)
        self._number_stat(record, "stack", self.add_stack(stack))

    def add_keeper(
        self, addresses: Sequence[int], size_bytes: int, chain: Sequence[str], stack: Stack
    ) -> None:
        """Writes what keeps allocations alive: the links from the root to the tensor."""
        record = self._record("keeper")
        for address in addresses:
            self._number_stat(record, "address", address)
        self._number_stat(record, "bytes", size_bytes)
        for link in chain:
            self._text_stat(record, "chain", link)
        if stack:
            self._number_stat(record, "stack", self.add_stack(stack))

    def add_text(self, file: str, line: int) -> None:
        """Writes the text of a line, as Python shows it in a traceback, if it is there."""
        key = (file, line)
        if key in self._texts or len(self._texts) >= _MOST_TEXTS or not self._paths.with_text:
            return
        self._texts.add(key)
        text = text_of(file, line)
        if text:
            record = self._record("line", f"{self._paths.shown(file)}{_SEPARATOR}{line}")
            self._text_stat(record, "text", text[:_LONGEST_TEXT])

    def serialized(self) -> bytes | None:
        """Returns the XSpace; None if there is nothing in it."""
        if not self._plane.event_metadata:
            return None
        return bytes(self._space.SerializeToString())

    def _record(self, kind: str, display_name: str = "") -> Any:
        record = self._plane.event_metadata[self._next_id]
        record.id = self._next_id
        record.name = kind
        record.display_name = _in_utf8(display_name)
        self._next_id += 1
        return record

    def _text_stat(self, record: Any, name: str, value: str) -> None:
        record.stats.add(metadata_id=self._stat(name)).str_value = _in_utf8(value)

    def _number_stat(self, record: Any, name: str, value: int) -> None:
        record.stats.add(metadata_id=self._stat(name)).uint64_value = value

    def _stat(self, name: str) -> int:
        known = self._stats.get(name)
        if known is None:
            known = self._stats[name] = len(self._stats) + 1
            self._plane.stat_metadata[known].id = known
            self._plane.stat_metadata[known].name = name
        return known


def _in_utf8(text: str) -> str:
    """Text as protobuf takes it: what stands for a byte of a file's name becomes a "?"."""
    return text.encode(errors="replace").decode()
