"""A stack names the functions that ran, not those whose code lay there before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from recordings.recording import LOGDIR, Recording

SCRIPT = Path(__file__).parent / "scripts/made_functions.py"


def test_functions_that_differ_in_their_names_alone_are_told_apart(
    record: Callable[..., Recording],
) -> None:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    logdir = record(SCRIPT, LOGDIR).logdir
    (trace,) = logdir.glob("plugins/profile/*_snapshot/*.xplane.pb")
    texts = {
        metadata.name
        for plane in xplane_pb2.XSpace.FromString(trace.read_bytes()).planes
        for metadata in plane.stat_metadata.values()
    }
    named = {text.rpartition("\x1f")[2] for text in texts if text.startswith("made.py\x1f")}
    assert named == {f"make_{number:02d}" for number in range(40)}
