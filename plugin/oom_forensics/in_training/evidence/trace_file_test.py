"""A trace is extended in one step, and what it names is read without its events."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from oom_forensics.in_training.evidence import trace_file


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    space = xplane_pb2.XSpace()
    host = space.planes.add(name="/host:CPU")
    host.event_metadata[1].display_name = "no allocation"
    pool = space.planes.add(name="/oom_forensics:bfc#0")
    for key, (kind, op) in enumerate(
        [("alloc", "dense/MatMul"), ("failed", "dense/Relu"), ("free", "dense/Add"), ("alloc", "")]
    ):
        pool.event_metadata[key].name = kind
        pool.event_metadata[key].display_name = op
    for key, name in enumerate(("shape", "dtype", "eager", "[8,16]"), start=1):
        pool.stat_metadata[key].name = name
    pool.event_metadata[0].stats.add(metadata_id=1, ref_value=4)
    pool.event_metadata[0].stats.add(metadata_id=2, int64_value=1)
    pool.event_metadata[0].stats.add(metadata_id=3, uint64_value=1)
    line = pool.lines.add(name="events")
    for offset in range(1000):
        line.events.add(metadata_id=0, offset_ps=offset)
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(space.SerializeToString())
    return path


def test_ops_are_those_of_allocations_and_refusals(trace: Path) -> None:
    assert [op.name for op in trace_file.recorded_ops(trace)] == ["dense/MatMul", "dense/Relu"]


def test_an_op_comes_with_what_its_site_tells(trace: Path) -> None:
    first, second = trace_file.recorded_ops(trace)
    assert (first.shape, first.dtype, first.eager) == ("[8,16]", 1, True)
    assert (second.shape, second.dtype, second.eager) == ("", 0, False)


def test_a_header_is_the_plane_without_its_lines(trace: Path) -> None:
    (header,) = trace_file.plane_headers(trace)
    assert header.name == "/oom_forensics:bfc#0"
    assert not header.lines
    assert len(header.event_metadata) == 4


def test_appended_planes_become_part_of_the_trace(trace: Path) -> None:
    more = xplane_pb2.XSpace()
    more.planes.add(name="/oom_forensics:more")
    trace_file.append_planes(trace, more.SerializeToString())
    whole = xplane_pb2.XSpace.FromString(trace.read_bytes())
    assert [plane.name for plane in whole.planes] == [
        "/host:CPU",
        "/oom_forensics:bfc#0",
        "/oom_forensics:more",
    ]
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]


def test_a_trace_that_is_cut_off_is_an_error_not_a_guess(trace: Path) -> None:
    trace.write_bytes(trace.read_bytes()[:-20])
    with pytest.raises(ValueError, match="cut off"):
        trace_file.recorded_ops(trace)


def test_a_failed_extension_leaves_the_trace_as_it_was(trace: Path) -> None:
    before = trace.read_bytes()
    with pytest.raises(TypeError):
        trace_file.append_planes(trace, None)  # type: ignore[arg-type]
    assert trace.read_bytes() == before
