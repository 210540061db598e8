"""Small files that are made to cost a reader far more than they weigh.

Each is a well-formed trace (an XSpace) below 1 MB in which something stands once and is
referred to many times, or in which one thing has more neighbors than any real one.

    PYTHONPATH=tools python -m hostile.files FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

_ALLOCATOR_PLANE = "/oom_forensics:GPU_0_bfc#1"


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _field(number: int, value: int | str | bytes) -> bytes:
    """One field of a protobuf message: a varint, a text or a message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _packed(number: int, values: Iterable[int]) -> bytes:
    return _field(number, b"".join(map(_varint, values)))


def _entry(number: int, key: int, value: bytes) -> bytes:
    return _field(number, _field(1, key) + _field(2, value))


class _Plane:
    """An XPlane in the making."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stats: dict[str, int] = {}
        self._metadata = bytearray()
        self._count = 0
        self._lines = bytearray()

    def stat_number(self, name: str) -> int:
        """The number of a stat, or of a text that stats refer to."""
        return self._stats.setdefault(name, len(self._stats) + 1)

    def reference(self, name: str, text: str) -> bytes:
        """An XStat whose value is a text that stands once in the plane."""
        return _field(1, self.stat_number(name)) + _field(7, self.stat_number(text))

    def number(self, name: str, value: int) -> bytes:
        return _field(1, self.stat_number(name)) + _field(3, value)

    def metadata(self, name: str, *stats: bytes, display_name: str = "") -> int:
        self._count += 1
        content = _field(1, self._count) + _field(2, name)
        if display_name:
            content += _field(4, display_name)
        content += b"".join(_field(5, stat) for stat in stats)
        self._metadata += _entry(4, self._count, content)
        return self._count

    def line(self, name: str, events: Iterable[bytes]) -> None:
        content = _field(2, name) + b"".join(_field(4, event) for event in events)
        self._lines += _field(3, content)

    def serialized(self) -> bytes:
        stats = b"".join(
            _entry(5, number, _field(1, number) + _field(2, name))
            for name, number in self._stats.items()
        )
        return _field(1, _field(2, self._name) + bytes(self._lines + self._metadata) + stats)


def _event(metadata: int, *stats: bytes, offset: int = 0) -> bytes:
    return _field(1, metadata) + _field(2, offset) + b"".join(_field(4, each) for each in stats)


def _dump(chunks: int) -> str:
    """A MemoryDump of BFC, in bytes that are text too."""
    chunk = _field(1, 64) + _field(2, 64) + _field(3, 64)
    return (_field(3, chunk) * chunks).decode()


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


_F32 = 11


def _shape(*dimensions: int) -> bytes:
    return _field(2, _F32) + _packed(3, dimensions)


def _instruction(
    number: int,
    opcode: str,
    *,
    operands: Iterable[int] = (),
    called: Iterable[int] = (),
    shape: bytes = b"",
    op_name: str = "",
    name: str = "",
) -> bytes:
    content = _field(1, name or f"i{number}") + _field(2, opcode) + _field(35, number)
    content += _field(3, shape) if shape else b""
    content += _packed(36, operands) if operands else b""
    content += _packed(38, called) if called else b""
    content += _field(7, _field(2, op_name)) if op_name else b""
    return _field(2, content)


def _computation(number: int, *instructions: bytes, root: int) -> bytes:
    return _field(3, b"".join(instructions) + _field(5, number) + _field(6, root))


def _module(
    computations: bytes,
    schedule: Iterable[int],
    assignment: bytes,
    other_schedules: Mapping[int, Iterable[int]] | None = None,
) -> bytes:
    """A trace with one module that XLA compiled; its entry is computation 1."""
    sequences = b"".join(
        _entry(1, computation, _packed(1, each))
        for computation, each in {1: schedule, **(other_schedules or {})}.items()
    )
    module = _field(1, "module") + computations + _field(6, 1) + _field(7, sequences)
    proto = _field(1, module) + _field(3, assignment)
    plane = _Plane("/host:metadata")
    plane.metadata("module(1)", _field(1, plane.stat_number("Hlo Proto")) + _field(6, proto))
    return plane.serialized()


def _buffer(number: int, instruction: int, *index: int) -> bytes:
    place = _packed(3, index) + _field(4, instruction)
    return _field(1, _field(1, number) + _field(3, place))


def _allocation(buffers: Iterable[int], size_bytes: int = 64) -> bytes:
    assigned = (_field(9, _field(1, each) + _field(3, size_bytes)) for each in buffers)
    return _field(3, _field(2, size_bytes) + b"".join(assigned))


def fusion_of_many_calls() -> bytes:
    """A fusion that calls a computation of 3,000 nameless instructions 600,000 times."""
    fused = [_instruction(100_000 + i, "add") for i in range(3_000)]
    fusion = _instruction(1, "fusion", called=[2] * 600_000, shape=_shape(4))
    inner = _computation(2, *fused, root=100_000)
    entry = _computation(1, fusion, root=1)
    return _module(entry + inner, [1], _buffer(1, 1) + _allocation([1]))


def wide_tuple() -> bytes:
    """50,000 buffers that are elements of one tuple of 50,000 shapes."""
    count = 50_000
    shape = _field(2, 13) + _field(4, _shape(4)) * count
    entry = _computation(1, _instruction(1, "tuple", shape=shape), root=1)
    buffers = b"".join(_buffer(i + 1, 1, i) for i in range(count))
    return _module(entry, [1], buffers + _allocation(range(1, 1_000)))


def buffers_of_one_instruction() -> bytes:
    """30,000 buffers at the parameter of a loop, which hands each of them on to itself."""
    count = 30_000
    loop = [
        _instruction(1, "parameter", shape=_shape(4)),
        _instruction(2, "while", operands=[1], called=[2]),
    ]
    body = [_instruction(3, "parameter"), _instruction(4, "opt-barrier", operands=[3])]
    computations = _computation(1, *loop, root=2) + _computation(2, *body, root=4)
    buffers = b"".join(_buffer(i + 1, 3, i) for i in range(count))
    assignment = buffers + _allocation(range(1, count + 1))
    return _module(computations, [1, 2], assignment, {2: [3, 4]})


def hub_with_many_users() -> bytes:
    """20,000 nameless instructions whose one user has 450,000 users of its own."""
    readers = range(10, 20_010)
    instructions = [
        *(_instruction(i, "copy") for i in readers),
        _instruction(1, "add", operands=readers),
        _instruction(2, "tuple", operands=[1] * 450_000),
    ]
    entry = _computation(1, *instructions, root=2)
    schedule = [*range(10, 1_010), 1, 2]
    buffers = b"".join(_buffer(i, i) for i in (1, *range(10, 1_010)))
    return _module(entry, schedule, buffers + _allocation([1, *range(10, 1_010)]))


def names_by_reference() -> bytes:
    """100,000 places of one buffer, whose instruction and op have names of 16 kB."""
    instruction = _instruction(
        1, "add", shape=_shape(4), name="n" * 16_000, op_name="scope/" + "o" * 16_000
    )
    entry = _computation(1, instruction, root=1)
    return _module(entry, [1] * 200_000, _buffer(1, 1) + _allocation([1] * 80_000))


def planes_with_high_numbers() -> bytes:
    """10,000 planes with one text each, whose number is close to the millionth."""
    plane = _field(1, _field(2, _ALLOCATOR_PLANE) + _entry(5, (1 << 20) - 1, _field(2, "op")))
    return plane * 10_000


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
