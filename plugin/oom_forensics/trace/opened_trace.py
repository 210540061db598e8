"""An opened trace: the datasets as typed objects.

    import oom_forensics

    with oom_forensics.open("logdir") as trace:
        for oom in trace.oom_window().ooms:
            print(oom.verdict.sentence, oom.request.op_name)
        rows = trace.all_allocations(at="oom:0")

In a notebook a trace shows itself as the tab's page. Every answer is computed by the
converter, the program behind the command and the tab; the numbers are the same everywhere.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from oom_forensics import datasets
from oom_forensics.converter.process import ConverterError, ConverterProcess
from oom_forensics.datasets import DatasetKind, Filter, GroupBy, Moment, Query
from oom_forensics.logdir import first_reading
from oom_forensics.logdir.runs import find_remote_run, scan
from oom_forensics.message import Message
from oom_forensics.remote.addresses import RemoteError, is_url
from oom_forensics.trace.pages import TraceError
from oom_forensics.trace.shown_trace import ShownTrace

_PAGE_ROWS = 10_000
_Answer = TypeVar("_Answer", bound=Message)

At = str | int | Moment | None
"""A moment: "peak", "end", "oom:N", "event:N", ns since the epoch, or a Moment."""


class Trace(ShownTrace):
    """A trace file, a run of many hosts, or the newest run of a logdir."""

    def __init__(self, path: str | os.PathLike[str], run: str = "") -> None:
        """Opens a trace; its converter runs from the first question until `close`.

        Without `close` it ends with this object, or with Python.

        Args:
          path: an .xplane.pb file, a run's folder, or a logdir; a path or a URL.
          run: in a logdir, the name of the run; the newest one if it is not given.

        Raises:
          TraceError: there is no such file, folder or run.
        """
        self.path = _path_of(path, run)
        self._lock = threading.Lock()
        self._converter: ConverterProcess | None = None

    def __enter__(self) -> Trace:
        return self

    def __fspath__(self) -> str:
        """Returns the path of the trace: it can be given wherever a path can."""
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"Trace({self.path!r})"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the converter."""
        with self._lock:
            converter, self._converter = self._converter, None
        if converter is not None:
            converter.close()

    def info(self) -> datasets.Info:
        """What is in the trace, which sources, what is missing."""
        return self._ask(datasets.Info, Query(dataset=DatasetKind.INFO))

    def memory_timeline(
        self,
        *,
        columns: int = 1000,
        top: int = 0,
        group_by: GroupBy = GroupBy.GROUP_NONE,
        only: Filter | None = None,
    ) -> datasets.MemoryTimeline:
        """In-use, requested and reserved bytes over time, at the width asked for."""
        query = Query(
            dataset=DatasetKind.MEMORY_TIMELINE, columns=columns, top=top, group_by=group_by
        )
        return self._ask(datasets.MemoryTimeline, query, only)

    def allocations(
        self,
        *,
        at: At = None,
        group_by: GroupBy = GroupBy.GROUP_NONE,
        sort: datasets.SortKey = datasets.SortKey.SORT_BYTES,
        ascending: bool = False,
        offset: int = 0,
        limit: int = 100,
        everything: bool = False,
        only: Filter | None = None,
    ) -> datasets.Allocations:
        """One page of the live set at a moment; the first OOM's or the peak's if unset.

        With `everything`, all that lived in the filter's time range instead.
        """
        query = Query(
            dataset=DatasetKind.ALLOCATIONS,
            at=_moment(at),
            group_by=group_by,
            sort=sort,
            ascending=ascending,
            offset=offset,
            limit=limit,
            range=everything,
        )
        return self._ask(datasets.Allocations, query, only)

    def all_allocations(
        self, *, at: At = None, everything: bool = False, only: Filter | None = None
    ) -> Iterator[datasets.Allocation]:
        """All rows of `allocations`, page by page, largest first."""
        offset = 0
        while True:
            page = self.allocations(
                at=at, offset=offset, limit=_PAGE_ROWS, everything=everything, only=only
            )
            yield from page.allocations
            offset += len(page.allocations)
            if not page.allocations or offset >= page.total_count:
                return

    def compiled_modules(
        self,
        *,
        module: str = "",
        allocation: int | None = None,
        program_point: int | None = None,
        columns: int = 1000,
        only: Filter | None = None,
    ) -> datasets.CompiledModules:
        """What XLA compiled, and the memory of one module over its program.

        Shown in detail: the module of that name (else the refused or the largest one), its
        allocation of that index (else the largest temporary one) at that instruction (else at its
        peak).
        """
        query = Query(
            dataset=DatasetKind.COMPILED_MODULES,
            module=module,
            module_allocation=allocation,
            program_point=program_point,
            columns=columns,
        )
        return self._ask(datasets.CompiledModules, query, only)

    def fragmentation(
        self,
        *,
        at: At = None,
        columns: int = 0,
        request_bytes: int = 0,
        only: Filter | None = None,
    ) -> datasets.Fragmentation:
        """The address map at a moment and the measures of fragmentation over time."""
        query = Query(
            dataset=DatasetKind.FRAGMENTATION,
            at=_moment(at),
            columns=columns,
            request_bytes=request_bytes,
        )
        return self._ask(datasets.Fragmentation, query, only)

    def oom_window(
        self,
        oom: int | None = None,
        *,
        pin_cost: datasets.PinCost = datasets.PinCost.PIN_COST_BYTES,
        only: Filter | None = None,
    ) -> datasets.OomWindow:
        """Every out-of-memory (or one): request, verdict, pins, remedies, last events."""
        query = Query(dataset=DatasetKind.OOM_WINDOW, oom=oom, pin_cost=pin_cost)
        return self._ask(datasets.OomWindow, query, only)

    def leaks(self, *, only: Filter | None = None) -> datasets.Leaks:
        """Sites that grow step over step, and allocations that outlive their step."""
        return self._ask(datasets.Leaks, Query(dataset=DatasetKind.LEAKS), only)

    def forecast(
        self,
        oom: int | None = None,
        *,
        limit_bytes: int = 0,
        columns: int = 0,
        only: Filter | None = None,
    ) -> datasets.Forecasts:
        """What the steps that ran out of memory (or one) would have needed."""
        query = Query(
            dataset=DatasetKind.FORECAST, oom=oom, limit_bytes=limit_bytes, columns=columns
        )
        return self._ask(datasets.Forecasts, query, only)

    def steps(self, *, limit: int = 0, only: Filter | None = None) -> datasets.Steps:
        """Peak, allocations and survivors of every training step."""
        return self._ask(datasets.Steps, Query(dataset=DatasetKind.STEPS, limit=limit), only)

    def driver_memory(
        self, *, columns: int = 0, only: Filter | None = None
    ) -> datasets.DriverMemory:
        """Device memory by kind and pool, as the CUDA driver has it."""
        query = Query(dataset=DatasetKind.DRIVER_MEMORY, columns=columns)
        return self._ask(datasets.DriverMemory, query, only)

    def compare(
        self,
        *,
        at: At = None,
        other: At = None,
        other_trace: str | os.PathLike[str] = "",
        group_by: GroupBy = GroupBy.GROUP_NONE,
        only: Filter | None = None,
    ) -> datasets.Compare:
        """Two moments, of this trace or of two: what grew, what went, what is new."""
        query = Query(
            dataset=DatasetKind.COMPARE, at=_moment(at), other=_moment(other), group_by=group_by
        )
        other_path = _path_of(other_trace, "") if os.fspath(other_trace) else ""
        return self._ask(datasets.Compare, query, only, other_path)

    def allocation_life(
        self, allocation_id: int, *, only: Filter | None = None
    ) -> datasets.AllocationLife:
        """One allocation, and what lay at its address before and after."""
        query = Query(dataset=DatasetKind.ALLOCATION_LIFE, allocation_id=allocation_id)
        return self._ask(datasets.AllocationLife, query, only)

    def what_if(
        self,
        *,
        limit: int | None = None,
        growth: bool | None = None,
        gc: bool | None = None,
        allocator: str = "bfc",
        batch_scale: float = 0,
        without: Sequence[str] = (),
        dtype: Mapping[str, str] | None = None,
        find_smallest_limit: bool = True,
        maps: bool = False,
        at: At = None,
        only: Filter | None = None,
    ) -> datasets.WhatIfAnswer:
        """The recorded requests under other settings: would they have fit?

        Args:
          limit: Bytes that the pool may hold; None, here as below: as recorded.
          growth: Whether it grows region by region or is one region from the start.
          gc: Whether unused regions are given back before a request is refused.
          allocator: "bfc", or "async", a pool in which holes are no waste.
          batch_scale: What has the batch in its shape is so many times as large.
          without: Name scopes whose ops ask for nothing.
          dtype: By name scope ("" for all), the type of floating point tensors.
          find_smallest_limit: Whether to look for the smallest limit that is enough.
          maps: Whether to give the two maps of the moment `at`.
          at: The moment; None: the first out-of-memory, else the peak.
          only: Whose requests; the allocator is chosen by it.
        """
        settings = datasets.WhatIfSettings(
            limit_bytes=limit,
            growth=growth,
            garbage_collection=gc,
            allocator_kind=allocator,
            batch_scale=batch_scale,
            without_scope=list(without),
            dtype=[
                datasets.WhatIfDtype(scope=scope, dtype=name)
                for scope, name in (dtype or {}).items()
            ],
            find_smallest_limit=find_smallest_limit,
            maps=maps,
        )
        query = Query(dataset=DatasetKind.WHAT_IF, what_if=settings, at=_moment(at))
        return self._ask(datasets.WhatIfAnswer, query, only)

    def ask(self, query: Query) -> dict[str, Any]:
        """Any dataset as parsed canonical JSON.

        Raises:
          TraceError: it cannot be answered; the sentence says why.
        """
        return self._ask_json(query, "")

    def _ask(
        self,
        answer: type[_Answer],
        query: Query,
        only: Filter | None = None,
        other_path: str = "",
    ) -> _Answer:
        if only is not None:
            query.filter = only
        return answer.from_json(self._ask_json(query, other_path, answer))

    def _ask_json(
        self, query: Query, other_path: str, answer_type: type[Message] | None = None
    ) -> dict[str, Any]:
        converter = self._running_converter()
        if answer_type is not None:
            # The converter reads the trace meanwhile.
            answer_type.prepare()
        try:
            body = converter.ask(query.to_json(), "json", other_path)
        except ConverterError as error:
            raise TraceError(str(error)) from None
        answer: dict[str, Any] = json.loads(body)
        return answer

    def _running_converter(self) -> ConverterProcess:
        """Returns the converter; one that has died is replaced."""
        with self._lock:
            if self._converter is not None and not self._converter.alive:
                self._converter.close()
                self._converter = None
            if self._converter is None:
                first_reading.complete(self.path)
                self._converter = ConverterProcess(self.path)
                # Who forgets close() leaves no process: it ends with this object.
                weakref.finalize(self, self._converter.abandon)
            return self._converter


def _path_of(path: str | os.PathLike[str], run: str) -> str:
    if is_url(os.fspath(path)):
        try:
            return find_remote_run(os.fspath(path), run).fetch()
        except RemoteError as error:
            raise TraceError(str(error)) from error
    found = Path(path).expanduser()
    if not found.exists():
        raise TraceError(f"There is no {found}.")
    if not run:
        return str(found)
    runs = {each.name: each.folder for each in scan({str(found): ""})}
    if run not in runs:
        names = ", ".join(runs) or "none"
        raise TraceError(f"There is no run {run!r} in {found}; there are: {names}.")
    return runs[run]


def _moment(at: At) -> Moment:
    if at is None:
        return Moment()
    if isinstance(at, Moment):
        return at
    name, _, number = str(at).partition(":")
    if name == "peak":
        return Moment(peak=True)
    if name == "end":
        return Moment(end=True)
    try:
        if name == "oom":
            return Moment(oom=int(number))
        if name == "step":
            return Moment(step=int(number))
        if name == "event":
            return Moment(event=int(number))
        return Moment(time_ns=int(at))
    except ValueError:
        raise TraceError(
            f"{at!r} is no moment; use 'peak', 'end', 'oom:N', 'step:N', 'event:N' "
            "or ns since the epoch."
        ) from None
