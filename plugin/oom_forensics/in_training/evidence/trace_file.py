"""Traces as files: what one names, without reading its events; appending planes.

Messages are TensorFlow's own (`xplane_pb2` comes with it). A trace of millions of events
is never parsed whole: protobuf's wire format tells where a plane and its lines end, and
they are passed over.
"""

from __future__ import annotations

import mmap
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# Of XSpace and XPlane, see proto/event_schema.h.
_PLANES = 1
_NAME = 2
_LINES = 3
_LENGTH_DELIMITED = 2
_OURS = "/oom_forensics:"
_SESSION = "/oom_forensics:session"
_SOURCE = "/oom_forensics:source"
_MODULES = "/host:metadata"
FORECAST = "/oom_forensics:forecast"
"""The plane of what a step would have asked for."""
STEP = "/oom_forensics:step"
"""The plane of what such a forecast is made of."""


class RecordedOp(NamedTuple):
    """An op as a site of a trace tells of it."""

    name: str
    shape: str
    """Of the tensor, "[8,16]"; empty where it is not known."""
    dtype: int
    """TensorFlow's DataType; 0 where it is not known."""
    eager: bool
    """Whether it is known to have run by itself, not as a node of a graph."""


class ModuleName(NamedTuple):
    """By what a trace knows a module that XLA compiled."""

    name: str
    program_id: int


def append_planes(trace: Path, xspace: bytes) -> None:
    """Adds the planes of a serialised XSpace to a trace.

    Messages of protobuf that follow each other in a file are one message. The file is
    replaced in one step: who opens it finds it with all of the planes or without them.

    Raises:
      OSError: It cannot be written; the trace is as it was.
    """
    longer = trace.with_name(f".{trace.name}.{os.getpid()}")
    try:
        shutil.copyfile(trace, longer)
        with longer.open("ab") as file:
            file.write(xspace)
        # The times too: which run is the newest is asked by them.
        shutil.copystat(trace, longer)
        longer.replace(trace)
    finally:
        longer.unlink(missing_ok=True)


def plane_names(trace: Path) -> Iterator[str]:
    """Yields the name of each plane; needs no TensorFlow.

    Raises:
      OSError, ValueError, IndexError: It cannot be read, or is no trace.
    """
    with trace.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for number, _, body, end in _fields(content, 0, len(content)):
            if number == _PLANES:
                yield _name_of(content, body, end)


def plane_headers(trace: Path, prefix: str = _OURS) -> Iterator[Any]:
    """Yields each plane (an XPlane) whose name begins with `prefix`, without its lines."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with trace.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for number, _, body, end in _fields(content, 0, len(content)):
            if number != _PLANES:
                continue
            if not _name_of(content, body, end).startswith(prefix):
                continue
            header = bytearray()
            for plane_field, first, _, last in _fields(content, body, end):
                if plane_field != _LINES:
                    header += content[first:last]
            yield xplane_pb2.XPlane.FromString(bytes(header))


def is_anonymized(trace: Path) -> bool:
    """Whether a trace of ours has shifted addresses."""
    return any(
        plane.stat_metadata[stat.metadata_id].name == "anonymized" and stat.uint64_value
        for plane in plane_headers(trace, _SESSION)
        for stat in plane.stats
    )


def recorded_ops(trace: Path) -> list[RecordedOp]:
    """Returns the ops of a trace's allocations and failed requests, one for each site."""
    ops = []
    for plane in plane_headers(trace):
        stats = {key: stat.name for key, stat in plane.stat_metadata.items()}
        for site in plane.event_metadata.values():
            if site.name not in ("alloc", "failed") or not site.display_name:
                continue
            values = {stats.get(stat.metadata_id): stat for stat in site.stats}
            shape, dtype, eager = (values.get(name) for name in ("shape", "dtype", "eager"))
            ops.append(
                RecordedOp(
                    site.display_name,
                    stats.get(shape.ref_value, "") if shape else "",
                    int(dtype.int64_value) if dtype else 0,
                    bool(eager and eager.uint64_value),
                )
            )
    return ops


def modules(trace: Path) -> list[Any]:
    """Returns the modules (HloProto) that XLA compiled, as far as a trace has those."""
    from tensorflow.compiler.xla.service import hlo_pb2

    return [
        hlo_pb2.HloProto.FromString(stat.bytes_value)
        for plane in plane_headers(trace, _MODULES)
        for module in plane.event_metadata.values()
        for stat in module.stats
    ]


def module_names(trace: Path) -> list[ModuleName]:
    """Returns the modules that XLA compiled, by name, as far as a trace has those."""
    return [
        # "a_inference_step_12__.7(3)"
        ModuleName(module.name.rpartition("(")[0], int(key))
        for plane in plane_headers(trace, _MODULES)
        for key, module in plane.event_metadata.items()
    ]


def compiled_ops(trace: Path) -> list[RecordedOp]:
    """Returns the ops inside the modules that XLA compiled, as far as a trace has those."""
    names: set[str] = set()
    for module in modules(trace):
        for computation in module.hlo_module.computations:
            names.update(each.metadata.op_name for each in computation.instructions)
    return [RecordedOp(name, "", 0, False) for name in names if name]


def recorded_lines(trace: Path) -> set[tuple[str, int]]:
    """Returns the user's lines, as (file, line), of the stacks that the collector took."""
    lines = set()
    for plane in plane_headers(trace, _SOURCE):
        names = {key: stat.name for key, stat in plane.stat_metadata.items()}
        for record in plane.event_metadata.values():
            for stat in record.stats:
                if record.name == "stack" and names.get(stat.metadata_id) == "frame":
                    file, line, _ = (stat.str_value or names[stat.ref_value]).split("\x1f", 2)
                    lines.add((file, int(line)))
    return lines


def _name_of(content: mmap.mmap, start: int, end: int) -> str:
    for number, _, body, last in _fields(content, start, end):
        if number == _NAME:
            return content[body:last].decode(errors="replace")
    return ""


def _fields(content: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields (number, first byte, first byte of the value, byte after it) of each field."""
    at = start
    while at < end:
        first = at
        tag, at = _varint(content, at)
        wire_type = tag & 7
        body = at
        if wire_type == 0:
            _, at = _varint(content, at)
        elif wire_type == 1:
            at += 8
        elif wire_type == _LENGTH_DELIMITED:
            length, body = _varint(content, at)
            at = body + length
        elif wire_type == 5:
            at += 4
        else:
            raise ValueError(f"wire type {wire_type} at byte {first}")
        if at > end:
            raise ValueError(f"the field at byte {first} is cut off")
        yield tag >> 3, first, body, at


def _varint(content: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
