"""The plane `/oom_forensics:source` that Python appends to a run, see proto/event_schema.h.

Records are event metadata: stacks, ops, lines of text, keepers. Stacks are said once and
referred to by id. Ids begin where the collector's own end.
"""

from __future__ import annotations

from collections.abc import Sequence

from oom_forensics.in_training.evidence.plane_writer import PlaneWriter
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
        self._plane = PlaneWriter(PLANE, first_id)
        self._paths = paths
        self._stacks: dict[Stack, int] = {}
        self._texts: set[tuple[str, int]] = set()

    def add_stack(self, stack: Stack) -> int:
        """Returns the id of a stack, which is written the first time."""
        known = self._stacks.get(stack)
        if known is not None:
            return known
        record = self._plane.add_record("stack")
        for frame in stack:
            self._plane.add_text(
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
        record = self._plane.add_record("op", name)
        if stack:
            self._plane.add_uint64(record, "stack", self.add_stack(stack))
        if made is None:
            return
        if made.made_at:
            self._plane.add_uint64(record, "made_at_stack", self.add_stack(made.made_at))
        self._plane.add_text(record, "object", made.text)
        if made.is_optimizer:
            self._plane.add_uint64(record, "of_optimizer", 1)

    def add_size(self, size_bytes: int, stack: Stack) -> None:
        """Writes where that was made which asks for so many bytes outside of any op."""
        record = self._plane.add_record("size")
        self._plane.add_uint64(record, "bytes", size_bytes)
        self._plane.add_uint64(record, "stack", self.add_stack(stack))

    def add_keeper(
        self, addresses: Sequence[int], size_bytes: int, chain: Sequence[str], stack: Stack
    ) -> None:
        """Writes what keeps allocations alive: the links from the root to the tensor."""
        record = self._plane.add_record("keeper")
        for address in addresses:
            self._plane.add_uint64(record, "address", address)
        self._plane.add_uint64(record, "bytes", size_bytes)
        for link in chain:
            self._plane.add_text(record, "chain", link)
        if stack:
            self._plane.add_uint64(record, "stack", self.add_stack(stack))

    def add_text(self, file: str, line: int) -> None:
        """Writes the text of a line, as Python shows it in a traceback, if it is there."""
        key = (file, line)
        if key in self._texts or len(self._texts) >= _MOST_TEXTS or not self._paths.with_text:
            return
        self._texts.add(key)
        text = text_of(file, line)
        if text:
            record = self._plane.add_record("line", f"{self._paths.shown(file)}{_SEPARATOR}{line}")
            self._plane.add_text(record, "text", text[:_LONGEST_TEXT])

    def serialized(self) -> bytes | None:
        """Returns the XSpace; None if there is nothing in it."""
        return None if self._plane.is_empty() else self._plane.serialized()
