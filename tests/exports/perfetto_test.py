"""A run as a Perfetto trace, packet by packet, read by Perfetto's own protos.

What Perfetto itself makes of it: tests/browser/perfetto.test.ts.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4


@dataclass
class Track:
    """What the packets say of one track, in the order of time."""

    name: str
    parent: int
    description: str
    values: list[tuple[int, int]] = field(default_factory=list)
    slices: list[tuple[int, int, str, dict[str, Any]]] = field(default_factory=list)
    instants: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    open: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)


def value_of(annotation: Any, texts: dict[int, str]) -> Any:
    kind = annotation.WhichOneof("value")
    value = getattr(annotation, kind)
    return texts[value] if kind == "string_value_iid" else value


def named(packets: list[Any]) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """Each event with its name and arguments, as the interned data give them."""
    names: dict[int, str] = {}
    keys: dict[int, str] = {}
    texts: dict[int, str] = {}
    for packet in packets:
        interned = packet.interned_data
        names.update((each.iid, each.name) for each in interned.event_names)
        keys.update((each.iid, each.name) for each in interned.debug_annotation_names)
        texts.update(
            (each.iid, each.str.decode()) for each in interned.debug_annotation_string_values
        )
        if packet.HasField("track_event"):
            event = packet.track_event
            arguments = {
                keys[each.name_iid]: value_of(each, texts) for each in event.debug_annotations
            }
            yield packet, names.get(event.name_iid, ""), arguments


def tracks_of(path: Path) -> dict[int, Track]:
    packets = perfetto_trace_pb2.Trace.FromString(path.read_bytes()).packet
    tracks = {
        each.track_descriptor.uuid: Track(
            each.track_descriptor.name,
            each.track_descriptor.parent_uuid,
            each.track_descriptor.description,
        )
        for each in packets
        if each.HasField("track_descriptor")
    }
    # As the trace processor does: by time, those of one time in the order of the file.
    for packet, name, arguments in sorted(named(packets), key=lambda each: each[0].timestamp):
        event = packet.track_event
        track = tracks[event.track_uuid]
        if event.type == COUNTER:
            track.values.append((packet.timestamp, event.counter_value))
        elif event.type == INSTANT:
            track.instants.append((packet.timestamp, name, arguments))
        elif event.type == SLICE_BEGIN:
            assert not track.open, "allocations of one track follow one another"
            track.open.append((packet.timestamp, name, arguments))
        else:
            begin, begun, with_arguments = track.open.pop()
            track.slices.append((begin, packet.timestamp, begun, with_arguments))
    assert not any(track.open for track in tracks.values())
    return tracks


@pytest.fixture(scope="module")
def written(export: Any) -> Path:
    path: Path = export("convert", "run.pftrace", "--format=perfetto")
    return path


@pytest.fixture(scope="module")
def tracks(written: Path) -> dict[int, Track]:
    return tracks_of(written)


def the_track(tracks: dict[int, Track], name: str) -> Track:
    (found,) = [each for each in tracks.values() if each.name == name]
    return found


def test_its_clock_is_the_clock_of_the_day(written: Path, trace: Path, dataset: Any) -> None:
    packets = perfetto_trace_pb2.Trace.FromString(written.read_bytes()).packet
    (snapshot,) = [each.clock_snapshot for each in packets if each.HasField("clock_snapshot")]
    assert len({each.timestamp for each in snapshot.clocks}) == 1
    first = dataset(trace, "memory_timeline")["fromNs"]
    assert snapshot.clocks[0].timestamp == int(first)


def test_allocators_are_below_their_host(tracks: dict[int, Track], trace: Path) -> None:
    allocator = the_track(tracks, "bfc_cpu_allocator_for_gpu#0")
    assert tracks[allocator.parent].name == trace.name.removesuffix(".xplane.pb")


def test_counters_reach_what_the_datasets_say(
    tracks: dict[int, Track], trace: Path, dataset: Any
) -> None:
    (info,) = dataset(trace, "info")["hosts"][0]["allocators"]
    highest = {
        name: max(value for _, value in the_track(tracks, name).values)
        for name in ("In use", "Reserved", "Limit")
    }
    assert highest == {
        "In use": int(info["peakInUseBytes"]),
        "Reserved": int(info["peakReservedBytes"]),
        "Limit": int(info["limitBytes"]),
    }
    (oom,) = dataset(trace, "oom_window")["ooms"]
    holes = [
        value
        for time, value in the_track(tracks, "Largest hole").values
        if time <= int(oom["timeNs"])
    ]
    assert holes[-1] == int(oom["largestFreeBytes"])


def test_steps_are_slices(tracks: dict[int, Track]) -> None:
    steps = the_track(tracks, "Training steps")
    assert [name for _, _, name, _ in steps.slices] == ["step 0", "step 1", "step 2", "step 3"]


def test_the_oom_is_an_instant_with_its_verdict(
    tracks: dict[int, Track], trace: Path, dataset: Any
) -> None:
    (oom,) = dataset(trace, "oom_window")["ooms"]
    ((time, name, arguments),) = the_track(tracks, "Failed requests").instants
    assert (time, name) == (int(oom["timeNs"]), "OOM 0")
    assert arguments["verdict"] == oom["verdict"]["kind"]
    assert arguments["sentence"] == oom["verdict"]["sentence"]
    assert arguments["requested_bytes"] == int(oom["request"]["requestedBytes"])


def test_every_allocation_is_a_slice(tracks: dict[int, Track], trace: Path, dataset: Any) -> None:
    shown = collections.Counter(
        arguments["address"]
        for track in tracks.values()
        if track.name == "Allocations"
        for _, _, _, arguments in track.slices
    )
    answer = dataset(trace, "allocations", "--range", "--rows=10000")
    assert int(answer["totalCount"]) == len(answer["allocations"])
    assert shown == collections.Counter(int(each["address"]) for each in answer["allocations"])


def test_an_allocation_tells_what_it_is(tracks: dict[int, Track]) -> None:
    (kept,) = [
        arguments
        for track in tracks.values()
        for _, _, name, arguments in track.slices
        if name == "encoder/wide/MatMul" and arguments.get("step") == 3
    ]
    assert kept["shape"] == "[512,4096]"
    assert kept["dtype"] == "float32"
    assert kept["requested_bytes"] == 512 * 4096 * 4
    assert kept["live_at_end"] is True
