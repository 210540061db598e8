"""What CUPTI's records say of memory beside TensorFlow's pool: each call that was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, Recording

xplane_pb2 = pytest.importorskip("tensorflow.tsl.profiler.protobuf.xplane_pb2")

Run = Callable[..., Recording]


@pytest.mark.parametrize(
    ("mode", "arguments", "tf"),
    [("tee", ["--logdir", LOGDIR], {}), ("own", [], {"OOM_FORENSICS_CUPTI": "own"})],
    ids=["tee", "own"],
)
def test_each_call_of_the_driver_has_its_record(
    run: Run, mode: str, arguments: list[str], tf: dict[str, str]
) -> None:
    recording = run("driver_calls.py", *arguments, tf=tf, MEMORY="1900MiB")
    calls = [tuple(call) for call in json.loads(recording.done.stdout.splitlines()[-1])]
    (trace,) = recording.logdir.rglob("*.xplane.pb")
    plane = device_plane(trace)
    assert fact(plane, "cupti_mode") == mode
    assert fact(plane, "pci_bus_id") == "0000:01:00.0"
    records = list(records_of(plane))
    # Own records begin with the first look at the device, TensorFlow's with the trace.
    assert records[-len(calls) :] == calls
    if mode == "tee":
        assert len(records) == len(calls)


def device_plane(trace: Path) -> Any:
    """The plane of the CUDA device."""
    space = xplane_pb2.XSpace.FromString(trace.read_bytes())
    (plane,) = (each for each in space.planes if each.name == "/oom_forensics:cupti:0")
    return plane


def fact(plane: Any, name: str) -> str:
    """A text that the plane tells of itself."""
    names = {number: each.name for number, each in plane.stat_metadata.items()}
    return str(next(stat.str_value for stat in plane.stats if names[stat.metadata_id] == name))


def records_of(plane: Any) -> Any:
    """Allocations and frees: kind, address, bytes."""
    names = {number: each.name for number, each in plane.stat_metadata.items()}
    for line in plane.lines:
        for event in line.events:
            kind = plane.event_metadata[event.metadata_id].name
            if kind not in ("device_alloc", "device_free"):
                continue
            stats = {names[stat.metadata_id]: stat.uint64_value for stat in event.stats}
            yield kind, stats["address"], stats["size_bytes"]
