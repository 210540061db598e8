"""Forecasts as a plane of a run (proto/event_schema.h, kForecastPlane)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oom_forensics.in_training.evidence.trace_file import FORECAST, ModuleName
from oom_forensics.in_training.step_forecast.memory import Requests, Site

_MODULES_PLANE = "/host:metadata"
# Names of ops that were not understood; more are counted.
_NAMED = 50


@dataclass(frozen=True)
class Forecast:
    """What is forecast of one step.

    Attributes:
      origin: "oom": of the step that did not end; "ahead": of one that was not begun.
      function: The name of the step's function.
      held_bytes: Of its variables, inputs and constants.
      requests: In each order; empty where `reason` says why there is no forecast.
      step_id: TensorFlow's number of the run of the function; 0: not known.
      modules: Serialised HloProtos of what it runs, as far as the run has not got them.
      unknown: Name and type of the ops whose output sizes are not known.
      assumed: Where a value decides that is not known: name of the op, what.
    """

    origin: str
    function: str
    held_bytes: int = 0
    requests: Sequence[Requests] = ()
    batch: int | None = None
    step_id: int = 0
    op_count: int = 0
    unknown: Sequence[tuple[str, str]] = ()
    assumed: Sequence[tuple[str, str]] = ()
    reason: str = ""
    allocator: str = ""
    modules: Mapping[ModuleName, bytes] = field(default_factory=dict)


def serialized(forecasts: Sequence[Forecast]) -> bytes:
    """Returns an XSpace with the forecasts, and the modules that they bring along."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace()
    writer = _PlaneWriter(space.planes.add(name=FORECAST))
    for forecast in forecasts:
        writer.add(forecast)
    modules = {name: each for made in forecasts for name, each in made.modules.items()}
    if modules:
        _add_modules(modules, space.planes.add(name=_MODULES_PLANE))
    return bytes(space.SerializeToString())


def _add_modules(modules: Mapping[ModuleName, bytes], plane: Any) -> None:
    """As TensorFlow's profiler writes them, each under a number of its own."""
    stat = 1
    plane.stat_metadata[stat].id = stat
    plane.stat_metadata[stat].name = "Hlo Proto"
    for module, content in modules.items():
        metadata = plane.event_metadata[module.program_id]
        metadata.id = module.program_id
        metadata.name = f"{module.name}({module.program_id})"
        metadata.stats.add(metadata_id=stat, bytes_value=content)


class _PlaneWriter:
    def __init__(self, plane: Any) -> None:
        self._plane = plane
        self._stats: dict[str, int] = {}
        self._free = self._metadata("free")

    def add(self, forecast: Forecast) -> None:
        head = self._metadata("forecast")
        facts: dict[str, str | int] = {
            "origin": forecast.origin,
            "function": forecast.function,
            "step_id": forecast.step_id,
            "held_bytes": forecast.held_bytes,
            "op_count": forecast.op_count,
            "unknown": len(forecast.unknown),
            "unknown_ops": "\n".join(f"{op} {name}" for name, op in forecast.unknown[:_NAMED]),
            "assumed": "\n".join(f"{what} ({name})" for name, what in forecast.assumed[:_NAMED]),
            "reason": forecast.reason,
            "allocator_name": forecast.allocator,
        }
        if forecast.batch is not None:
            facts["batch"] = forecast.batch
        for name, value in facts.items():
            if value != "":
                self._add_stat(head, name, value)
        ids: dict[Site, int] = {}
        for requests in forecast.requests:
            self._add_line(head.id, requests, ids)

    def _add_line(self, head: int, requests: Requests, ids: dict[Site, int]) -> None:
        """Adds an order; `ids` has the sites that other orders of the forecast have, too."""
        line = self._plane.lines.add(name=requests.order, id=len(self._plane.lines) + 1)
        line.events.add(metadata_id=head)
        for site in requests.sites:
            if site not in ids:
                ids[site] = self._site(site)
        sites = [ids[site] for site in requests.sites]
        number = self._stat_id("number")
        for offset, event in enumerate(requests.events, start=1):
            if event >= 0:
                line.events.add(metadata_id=sites[event], offset_ps=offset)
            else:
                freed = line.events.add(metadata_id=self._free.id, offset_ps=offset)
                freed.stats.add(metadata_id=number, uint64_value=-1 - event)

    def _site(self, site: Site) -> int:
        metadata = self._metadata("alloc")
        metadata.display_name = site.op
        self._add_stat(metadata, "op", site.op)
        if site.module is not None:
            self._add_stat(metadata, "hlo_module", site.module.name)
            self._add_stat(metadata, "hlo_program_id", site.module.program_id)
            return int(metadata.id)
        self._add_stat(metadata, "dtype", site.dtype)
        if site.shape is not None:
            shape = ",".join(str(size) for size in site.shape)
            self._add_stat(metadata, "shape", f"[{shape}]")
        self._add_stat(metadata, "requested_bytes", site.requested_bytes)
        if site.per_example_bytes:
            self._add_stat(metadata, "per_example_bytes", site.per_example_bytes)
        if site.fixed:
            self._add_stat(metadata, "is_scratch", 1)
        return int(metadata.id)

    def _metadata(self, name: str) -> Any:
        key = len(self._plane.event_metadata) + 1
        metadata = self._plane.event_metadata[key]
        metadata.id = key
        metadata.name = name
        return metadata

    def _add_stat(self, metadata: Any, name: str, value: str | int) -> None:
        stat = metadata.stats.add(metadata_id=self._stat_id(name))
        if isinstance(value, str):
            stat.str_value = value
        else:
            stat.int64_value = value

    def _stat_id(self, name: str) -> int:
        key = self._stats.get(name)
        if key is None:
            key = self._stats[name] = len(self._stats) + 1
            self._plane.stat_metadata[key].id = key
            self._plane.stat_metadata[key].name = name
        return key
