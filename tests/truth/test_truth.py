"""The truth test: what is replayed from our events equals what TensorFlow says itself.

`TF_BFC_MEMORY_DUMP` makes TensorFlow write its own chunk map at the out-of-memory,
without any part of ours. The map that the converter replays from the baseline and the
events of the trace has to be the same, chunk for chunk; the totals have to be those of
TensorFlow's own memory trace in the same file.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recordings.jobs import profile_in
from recordings.recording import LOGDIR
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import bfc_memory_map_pb2
from tensorflow.tsl.profiler.protobuf import xplane_pb2

WORKLOADS = Path(__file__).with_name("workloads")
BFC = "bfc_cpu_allocator_for_gpu"

# As Python and as types.proto call them.
DATA_TYPES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "int32": "INT32",
    "int64": "INT64",
    "bool": "BOOL",
    "uint8": "UINT8",
    "uint64": "UINT64",
    "resource": "RESOURCE",
    "string": "STRING",
    "variant": "VARIANT",
}


@dataclass(frozen=True)
class Recording:
    """A process that died of an out-of-memory, as both sides saw it."""

    trace: Path
    memory_dump: bfc_memory_map_pb2.MemoryDump


@pytest.fixture(scope="module", params=["eager_fragmentation", "keras_fit", "several_threads"])
def recording(
    request: pytest.FixtureRequest,
    record: Any,
    same_words: Any,
) -> Recording:
    folder, died = record(
        WORKLOADS / f"{request.param}.py",
        LOGDIR,
        exit_code=None,
        says="OOM when allocating tensor",
        TF_BFC_MEMORY_DUMP=f"{LOGDIR}/dump",
    )
    same_words(died.stderr)
    (trace,) = profile_in(folder).glob("*.xplane.pb")
    # One out-of-memory is several failing attempts; the last dump is the moment it returned.
    last = max(folder.glob("dump*"), key=lambda path: path.suffix)
    return Recording(trace, bfc_memory_map_pb2.MemoryDump.FromString(last.read_bytes()))


def the_map(recording: Recording, dataset: Any) -> dict[str, Any]:
    maps = dataset(recording.trace, "fragmentation", "--at=oom:0")["maps"]
    found: dict[str, Any]
    (found,) = [each for each in maps if each["allocator"].startswith(BFC)]
    return found


def test_the_replayed_map_is_tensorflows_own(recording: Recording, dataset: Any) -> None:
    replayed = {
        (
            int(chunk["address"]),
            int(chunk["sizeBytes"]),
            not chunk["free"],
            0 if chunk["free"] else int(chunk["allocation"]["requestedBytes"]),
        )
        for chunk in the_map(recording, dataset)["chunks"]
    }
    truth = {
        (chunk.address, chunk.size, chunk.in_use, chunk.requested_size if chunk.in_use else 0)
        for chunk in recording.memory_dump.chunk
    }
    assert len(truth) == len(recording.memory_dump.chunk)
    assert replayed == truth


def test_the_live_set_is_tensorflows_own(recording: Recording, dataset: Any) -> None:
    answer = dataset(
        recording.trace, "allocations", "--at=oom:0", f"--allocator={BFC}#0", "--rows=10000"
    )
    live = collections.Counter(
        (int(each["address"]), int(each["allocatedBytes"]), int(each["requestedBytes"]))
        for each in answer["allocations"]
    )
    truth = collections.Counter(
        (chunk.address, chunk.size, chunk.requested_size)
        for chunk in recording.memory_dump.chunk
        if chunk.in_use
    )
    assert live == truth


def test_the_converter_found_the_same_by_the_dump_in_the_trace(
    recording: Recording, dataset: Any
) -> None:
    (oom,) = dataset(recording.trace, "oom_window")["ooms"]
    assert oom["dumpCheck"]["hasDump"]
    assert oom["dumpCheck"]["equal"], oom["dumpCheck"]["difference"]
    assert int(oom["inUseBytes"]) == recording.memory_dump.stats.bytes_in_use


def stock_events(trace: Path) -> list[tuple[int, str, dict[str, Any]]]:
    """TensorFlow's own memory trace in the same file: time, name and stats, in order."""
    space = xplane_pb2.XSpace.FromString(trace.read_bytes())
    (plane,) = [plane for plane in space.planes if plane.name == "/host:CPU"]
    events = []
    for line in plane.lines:
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name.split("#")[0]
            if name not in ("MemoryAllocation", "MemoryDeallocation"):
                continue
            stats = {}
            for stat in event.stats:
                kind = stat.WhichOneof("value")
                value = getattr(stat, kind)
                if kind == "ref_value":
                    value = plane.stat_metadata[value].name
                stats[plane.stat_metadata[stat.metadata_id].name] = value
            if stats["allocator_name"] == BFC:
                events.append((line.timestamp_ns * 1000 + event.offset_ps, name, stats))
    return sorted(events, key=lambda event: event[0])


def test_the_model_places_every_request_as_tensorflow_did(
    recording: Recording, dataset: Any
) -> None:
    """Remedies are tried out in a model of the allocator. It is given what TensorFlow's was, in
    the order in which that served its threads."""
    (oom,) = dataset(recording.trace, "oom_window")["ooms"]
    evidence = {each["name"]: each for each in oom["verdict"]["evidence"]}
    assert evidence["placed_alike"]["value"] == 1, evidence["placed_alike"]["sentence"]


def test_allocations_and_frees_are_counted_exactly(recording: Recording, dataset: Any) -> None:
    stock = collections.Counter(name for _, name, _ in stock_events(recording.trace))
    (host,) = dataset(recording.trace, "info")["hosts"]
    (ours,) = [each for each in host["allocators"] if each["allocator"] == f"{BFC}#0"]
    assert int(ours["allocCount"]) == stock["MemoryAllocation"]
    assert int(ours["freeCount"]) == stock["MemoryDeallocation"]


def test_every_allocation_is_attributed_as_tensorflow_does(
    recording: Recording, dataset: Any
) -> None:
    said_by_tensorflow = {
        int(stats["addr"]): (
            stats.get("tf_op", ""),
            stats.get("shape", ""),
            int(stats["data_type"]),
        )
        for _, name, stats in stock_events(recording.trace)
        if name == "MemoryAllocation"
    }
    answer = dataset(
        recording.trace, "allocations", "--at=end", f"--allocator={BFC}#0", "--rows=10000"
    )
    in_session = [each for each in answer["allocations"] if not each["baseline"]]
    assert in_session
    for each in in_session:
        op, shape, data_type = said_by_tensorflow[int(each["address"])]
        assert each["opName"] == op
        if each["hasShape"]:
            assert f"[{','.join(each['shape'])}]" == shape.replace(" ", "")
        if each["dtype"]:
            assert types_pb2.DataType.Value(f"DT_{DATA_TYPES[each['dtype']]}") == data_type
