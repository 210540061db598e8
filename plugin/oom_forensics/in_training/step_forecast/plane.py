"""Forecasts as a plane of a run (proto/event_schema.h, kForecastPlane)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oom_forensics.in_training.evidence.plane_writer import PlaneWriter
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
    planes = [_ForecastPlane(forecasts).serialized()]
    modules = {name: each for made in forecasts for name, each in made.modules.items()}
    if modules:
        planes.append(_modules_plane(modules))
    return b"".join(planes)


def _modules_plane(modules: Mapping[ModuleName, bytes]) -> bytes:
    """As TensorFlow's profiler writes them, each under a number of its own."""
    writer = PlaneWriter(_MODULES_PLANE)
    for module, content in modules.items():
        name = f"{module.name}({module.program_id})"
        record = writer.add_record(name, record_id=module.program_id)
        writer.add_bytes(record, "Hlo Proto", content)
    return writer.serialized()


class _ForecastPlane:
    def __init__(self, forecasts: Sequence[Forecast]) -> None:
        self._writer = PlaneWriter(FORECAST)
        self._free = self._writer.add_record("free")
        for forecast in forecasts:
            self._add(forecast)

    def serialized(self) -> bytes:
        return self._writer.serialized()

    def _add(self, forecast: Forecast) -> None:
        head = self._writer.add_record("forecast")
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
        line = self._writer.add_line(requests.order)
        line.events.add(metadata_id=head)
        for site in requests.sites:
            if site not in ids:
                ids[site] = self._site(site)
        sites = [ids[site] for site in requests.sites]
        for offset, event in enumerate(requests.events, start=1):
            if event >= 0:
                line.events.add(metadata_id=sites[event], offset_ps=offset)
            else:
                freed = line.events.add(metadata_id=self._free.id, offset_ps=offset)
                self._writer.add_uint64(freed, "number", -1 - event)

    def _site(self, site: Site) -> int:
        metadata = self._writer.add_record("alloc", site.op)
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

    def _add_stat(self, record: Any, name: str, value: str | int) -> None:
        if isinstance(value, str):
            self._writer.add_text(record, name, value)
        else:
            self._writer.add_int64(record, name, value)
