"""Small files that are made to cost a reader far more than they weigh.

Each is a well-formed trace (an XSpace) below 1 MB in which something stands once and is
referred to many times, or in which one thing has more neighbors than any real one.

    PYTHONPATH=tools python -m hostile.files FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tensorflow.compiler.xla import xla_data_pb2
from tensorflow.compiler.xla.service import hlo_pb2
from tensorflow.core.protobuf import bfc_memory_map_pb2
from tensorflow.tsl.profiler.protobuf import xplane_pb2

_ALLOCATOR_PLANE = "/oom_forensics:GPU_0_bfc#1"


class _Plane:
    """An XPlane in the making."""

    def __init__(self, name: str) -> None:
        self._space = xplane_pb2.XSpace()
        self._plane = self._space.planes.add(name=name)
        self._stats: dict[str, int] = {}

    def stat_number(self, name: str) -> int:
        """The number of a stat, or of a text that stats refer to."""
        number = self._stats.setdefault(name, len(self._stats) + 1)
        self._plane.stat_metadata[number].id = number
        self._plane.stat_metadata[number].name = name
        return number

    def reference(self, name: str, text: str) -> Any:
        """An XStat whose value is a text that stands once in the plane."""
        number = self.stat_number(name)
        return xplane_pb2.XStat(metadata_id=number, ref_value=self.stat_number(text))

    def number(self, name: str, value: int) -> Any:
        return xplane_pb2.XStat(metadata_id=self.stat_number(name), uint64_value=value)

    def metadata(self, name: str, *stats: Any) -> int:
        number = len(self._plane.event_metadata) + 1
        made = xplane_pb2.XEventMetadata(id=number, name=name, stats=stats)
        self._plane.event_metadata[number].CopyFrom(made)
        return number

    def line(self, name: str, events: Iterable[Any]) -> None:
        self._plane.lines.add(name=name, events=events)

    def serialized(self) -> bytes:
        return bytes(self._space.SerializeToString())


def _event(metadata: int, *stats: Any, offset: int = 0) -> Any:
    return xplane_pb2.XEvent(metadata_id=metadata, offset_ps=offset, stats=stats)


def _dump(chunks: int) -> str:
    """A MemoryDump of BFC, in bytes that are text too."""
    chunk = bfc_memory_map_pb2.MemChunk(address=64, size=64, requested_size=64)
    return str(bfc_memory_map_pb2.MemoryDump(chunk=[chunk] * chunks).SerializeToString().decode())


def memory_dump_by_reference() -> bytes:
    """30,000 refused requests that share one chunk map of 500 kB."""
    plane = _Plane(_ALLOCATOR_PLANE)
    failed = plane.metadata("failed", plane.number("requested_bytes", 1 << 20))
    dump = plane.reference("memory_dump", _dump(60_000))
    plane.line("events", (_event(failed, dump, offset=i) for i in range(30_000)))
    return plane.serialized()


def forecasts_by_reference() -> bytes:
    """18,000 forecasts whose lists are references to one text."""
    plane = _Plane("/oom_forensics:forecast")
    ops = "\n".join("op" for _ in range(5_000))
    lists = [plane.reference(name, ops) for name in ("unknown_ops", "assumed")]
    for _ in range(18_000):
        plane.metadata("forecast", *lists)
    return plane.serialized()


def keeper_chains_by_reference() -> bytes:
    """2,500 keepers with chains of 64 links, all of them one long text."""
    plane = _Plane("/oom_forensics:source")
    link = plane.reference("chain", "x" * 16_000)
    for _ in range(2_500):
        plane.metadata("keeper", *[link] * 64)
    allocator = _Plane(_ALLOCATOR_PLANE)
    failed = allocator.metadata("failed", allocator.number("requested_bytes", 1 << 20))
    allocator.line("events", [_event(failed)])
    return plane.serialized() + allocator.serialized()


def forecast_orders() -> bytes:
    """A forecast in 4,000 orders of execution, each of them a line."""
    plane = _Plane("/oom_forensics:forecast")
    allocator = _Plane(_ALLOCATOR_PLANE)
    failed = allocator.metadata(
        "failed",
        allocator.number("requested_bytes", 1 << 20),
        allocator.number("bytes_limit", 1 << 30),
    )
    allocator.line("events", [_event(failed)])
    head = plane.metadata(
        "forecast", plane.reference("origin", "oom"), plane.reference("allocator_name", "GPU_0_bfc")
    )
    site = plane.metadata("alloc", plane.number("requested_bytes", 1 << 20))
    free = plane.metadata("free")
    for order in range(4_000):
        numbers = (_event(free, plane.number("number", i)) for i in range(8))
        plane.line(str(order), [_event(head), *[_event(site)] * 8, *numbers])
    return plane.serialized() + allocator.serialized()


_ARRAY = xla_data_pb2.ShapeProto(element_type=xla_data_pb2.F32, dimensions=[4])


def _instruction(number: int, opcode: str, name: str = "", **fields: Any) -> Any:
    name = name or f"i{number}"
    return hlo_pb2.HloInstructionProto(id=number, name=name, opcode=opcode, **fields)


def _computation(number: int, *instructions: Any, root: int) -> Any:
    return hlo_pb2.HloComputationProto(instructions=instructions, id=number, root_id=root)


def _buffer(number: int, instruction: int, *index: int) -> Any:
    place = hlo_pb2.LogicalBufferProto.Location(instruction_id=instruction, shape_index=index)
    return hlo_pb2.LogicalBufferProto(id=number, defined_at=place)


def _module(
    computations: Iterable[Any],
    schedules: Mapping[int, Iterable[int]],
    buffers: Iterable[Any],
    assigned: Iterable[int],
) -> bytes:
    """A trace with one module that XLA compiled: one allocation, and computation 1 as its entry.

    `schedules`: by computation, its instructions in turn; `assigned`: numbers of buffers.
    """
    proto = hlo_pb2.HloProto()
    module = proto.hlo_module
    module.name, module.entry_computation_id = "module", 1
    module.computations.extend(computations)
    for computation, instructions in schedules.items():
        module.schedule.sequences[computation].instruction_ids.extend(instructions)
    proto.buffer_assignment.logical_buffers.extend(buffers)
    allocation = proto.buffer_assignment.buffer_allocations.add(size=64)
    for number in assigned:
        allocation.assigned.add(logical_buffer_id=number, size=64)
    plane = _Plane("/host:metadata")
    number = plane.stat_number("Hlo Proto")
    content = xplane_pb2.XStat(metadata_id=number, bytes_value=proto.SerializeToString())
    plane.metadata("module(1)", content)
    return plane.serialized()


def fusion_of_many_calls() -> bytes:
    """A fusion that calls a computation of 3,000 nameless instructions 600,000 times."""
    fused = [_instruction(100_000 + i, "add") for i in range(3_000)]
    fusion = _instruction(1, "fusion", called_computation_ids=[2] * 600_000, shape=_ARRAY)
    inner = _computation(2, *fused, root=100_000)
    entry = _computation(1, fusion, root=1)
    return _module([entry, inner], {1: [1]}, [_buffer(1, 1)], [1])


def wide_tuple() -> bytes:
    """50,000 buffers that are elements of one tuple of 50,000 shapes."""
    count = 50_000
    shape = xla_data_pb2.ShapeProto(element_type=xla_data_pb2.TUPLE, tuple_shapes=[_ARRAY] * count)
    entry = _computation(1, _instruction(1, "tuple", shape=shape), root=1)
    buffers = (_buffer(i + 1, 1, i) for i in range(count))
    return _module([entry], {1: [1]}, buffers, range(1, 1_000))


def buffers_of_one_instruction() -> bytes:
    """30,000 buffers at the parameter of a loop, which hands each of them on to itself."""
    count = 30_000
    loop = [
        _instruction(1, "parameter", shape=_ARRAY),
        _instruction(2, "while", operand_ids=[1], called_computation_ids=[2]),
    ]
    body = [_instruction(3, "parameter"), _instruction(4, "opt-barrier", operand_ids=[3])]
    computations = _computation(1, *loop, root=2), _computation(2, *body, root=4)
    buffers = (_buffer(i + 1, 3, i) for i in range(count))
    return _module(computations, {1: [1, 2], 2: [3, 4]}, buffers, range(1, count + 1))


def hub_with_many_users() -> bytes:
    """20,000 nameless instructions whose one user has 450,000 users of its own."""
    readers = range(10, 20_010)
    instructions = [
        *(_instruction(i, "copy") for i in readers),
        _instruction(1, "add", operand_ids=readers),
        _instruction(2, "tuple", operand_ids=[1] * 450_000),
    ]
    entry = _computation(1, *instructions, root=2)
    placed = [1, *range(10, 1_010)]
    schedule = [*range(10, 1_010), 1, 2]
    return _module([entry], {1: schedule}, (_buffer(i, i) for i in placed), placed)


def names_by_reference() -> bytes:
    """100,000 places of one buffer, whose instruction and op have names of 16 kB."""
    metadata = xla_data_pb2.OpMetadata(op_name="scope/" + "o" * 16_000)
    instruction = _instruction(1, "add", "n" * 16_000, shape=_ARRAY, metadata=metadata)
    entry = _computation(1, instruction, root=1)
    return _module([entry], {1: [1] * 200_000}, [_buffer(1, 1)], [1] * 80_000)


def planes_with_high_numbers() -> bytes:
    """10,000 planes with one text each, whose number is close to the millionth."""
    space = xplane_pb2.XSpace()
    space.planes.add(name=_ALLOCATOR_PLANE).stat_metadata[(1 << 20) - 1].name = "op"
    return bytes(space.SerializeToString() * 10_000)


FILES: dict[str, Callable[[], bytes]] = {
    each.__name__: each
    for each in (
        memory_dump_by_reference,
        forecasts_by_reference,
        keeper_chains_by_reference,
        forecast_orders,
        fusion_of_many_calls,
        wide_tuple,
        buffers_of_one_instruction,
        hub_with_many_users,
        names_by_reference,
        planes_with_high_numbers,
    )
}


def write(folder: Path) -> list[Path]:
    """Writes all of them as traces of hosts of their names; returns where they lie."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, make in FILES.items():
        path = folder / f"{name}.xplane.pb"
        path.write_bytes(make())
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write(Path(sys.argv[1])):
        print(f"{written}: {written.stat().st_size} bytes")
