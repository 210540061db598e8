"""What an out-of-memory told goes into the recording around it, if both show the same addresses."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from oom_forensics.in_training.evidence import from_out_of_memory
from oom_forensics.in_training.evidence.written_run import WrittenRun


@pytest.fixture(autouse=True)
def _none_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_out_of_memory, "_kept", [])
    monkeypatch.setattr(from_out_of_memory, "_looked_at", {})


def recording(folder: Path, anonymized: int) -> WrittenRun:
    space = xplane_pb2.XSpace()
    session = space.planes.add(name="/oom_forensics:session")
    session.stat_metadata[1].name = "anonymized"
    session.stats.add(metadata_id=1, uint64_value=anonymized)
    trace = folder / f"{anonymized}.xplane.pb"
    trace.write_bytes(space.SerializeToString())
    return WrittenRun(trace=trace, origin="profile", began_s=time.monotonic())


def out_of_memory(folder: Path, address_shift: int = 0) -> WrittenRun:
    return WrittenRun(trace=folder / "oom.xplane.pb", origin="oom", address_shift=address_shift)


def kept(incident: int, run: WrittenRun, planes: list[bytes]) -> None:
    """Of an incident that became an out-of-memory."""
    from_out_of_memory.keep(incident, run, planes)
    from_out_of_memory.confirm(incident)


def test_a_recording_gets_what_was_kept_since_it_began(tmp_path: Path) -> None:
    kept(1, out_of_memory(tmp_path), [b"before"])
    run = recording(tmp_path, anonymized=0)
    kept(2, out_of_memory(tmp_path), [b"keepers", b"forecast"])
    assert from_out_of_memory.planes_for(run) == b"keepersforecast"


def test_a_request_that_got_its_memory_after_all_leaves_nothing(tmp_path: Path) -> None:
    run = recording(tmp_path, anonymized=0)
    from_out_of_memory.keep(1, out_of_memory(tmp_path), [b"keepers"])
    from_out_of_memory.confirm(2)
    assert from_out_of_memory.planes_for(run) == b""


def test_real_addresses_stay_out_of_a_recording_that_was_anonymized_since(tmp_path: Path) -> None:
    run = recording(tmp_path, anonymized=1)
    kept(1, out_of_memory(tmp_path), [b"keepers"])
    assert from_out_of_memory.planes_for(run) == b""


def test_shifted_addresses_are_not_kept(tmp_path: Path) -> None:
    run = recording(tmp_path, anonymized=0)
    kept(1, out_of_memory(tmp_path, address_shift=4096), [b"keepers"])
    assert from_out_of_memory.planes_for(run) == b""
