"""The requests that a forecast step makes, and who still refers to what it got."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from oom_forensics.in_training.evidence.trace_file import ModuleName
from oom_forensics.in_training.step_forecast.tensors import Buffer, Shape, Tensor, bytes_of


class Site(NamedTuple):
    """What asks: an op and what it asks for."""

    op: str
    dtype: int
    shape: Shape
    requested_bytes: int
    # Of these, what each example of the batch takes; 0: none, or not known.
    per_example_bytes: int = 0
    # Scratch of an op, the same whatever the batch is.
    fixed: bool = False
    # A run of it asks for all that XLA planned, which is not in requested_bytes.
    module: ModuleName | None = None


@dataclass(frozen=True)
class Requests:
    """The requests of a step in one order of its ops.

    Attributes:
      order: "fifo", ...
      sites: Who asked, each once.
      events: In sequence: n >= 0: site n asks, and what it gets has the next number, from
        0; -1 - n: what has number n is freed.
    """

    order: str
    sites: list[Site]
    events: list[int]


class Memory:
    """Hands out buffers and counts references, as TensorFlow's tensors do."""

    def __init__(self) -> None:
        self._sites: dict[Site, int] = {}
        self.events: list[int] = []
        self.allocations = 0
        # Ops whose outputs have no known size.
        self.unknown: set[tuple[str, str]] = set()
        # Whether who asks now asks the device that is meant; else it is not counted.
        self.is_here = True
        self.in_use_bytes = 0
        self.peak_bytes = 0
        self._bytes: list[int] = []

    def sites(self) -> list[Site]:
        """Of the requests, in the order of their numbers."""
        return list(self._sites)

    def allocate(
        self, op: str, kind: str, dtype: int, shape: Shape, *, fixed: bool = False
    ) -> Buffer | None:
        """A new buffer; None where it takes none, or its size is not known."""
        if not self.is_here:
            return Buffer(None)
        size = bytes_of(dtype, shape)
        if size is None:
            self.unknown.add((op, kind))
            return None
        if size == 0:
            return None
        return self.ask(Site(op, dtype, shape, size, 0, fixed))

    def ask(self, site: Site) -> Buffer:
        """A new buffer of a site whose size is known, or is its module's."""
        size = site.requested_bytes
        self.events.append(self._sites.setdefault(site, len(self._sites)))
        self._bytes.append(size)
        self.in_use_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.in_use_bytes)
        self.allocations += 1
        return Buffer(self.allocations - 1)

    def retain(self, tensor: Tensor, times: int = 1) -> None:
        """One more (or so many) refer to the tensor."""
        if tensor.items is not None:
            tensor.items.references += times
        elif tensor.buffer is not None:
            tensor.buffer.references += times

    def release(self, tensor: Tensor) -> None:
        """One refers to it no longer; the last one frees it."""
        if tensor.items is not None:
            tensor.items.references -= 1
            if tensor.items.references == 0:
                for item in tensor.items.items:
                    if item is not None:
                        self.release(item)
        elif tensor.buffer is not None:
            tensor.buffer.references -= 1
            if tensor.buffer.references == 0:
                self.free(tensor.buffer)

    def free(self, buffer: Buffer) -> None:
        """Gives a buffer back that nothing refers to."""
        if buffer.number is not None:
            self.events.append(-1 - buffer.number)
            self.in_use_bytes -= self._bytes[buffer.number]
            buffer.number = None
