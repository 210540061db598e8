"""Registers providers and writes a run in each way there is. Argument: a logdir."""

import json
import sys
from pathlib import Path
from typing import Any

import oom_forensics
import tensorflow as tf
from oom_forensics.in_training.evidence import providers, trace_file
from oom_forensics.in_training.evidence.written_run import WrittenRun
from tensorflow.tsl.profiler.protobuf import xplane_pb2

logdir = Path(sys.argv[1])
told: list[dict[str, Any]] = []


def careful(run: WrittenRun) -> bytes:
    """Adds a plane, and remembers what it was told."""
    told.append(
        {
            "trace": str(run.trace),
            "origin": run.origin,
            "ops": sorted(run.op_names),
            "caller": run.frame and run.frame.f_code.co_filename,
            "request": run.request and run.request.op.name,
        }
    )
    space = xplane_pb2.XSpace()
    space.planes.add(name=f"/oom_forensics:added {run.origin}")
    return bytes(space.SerializeToString())


def of_the_moment(_: WrittenRun) -> bytes:
    """Tells what can only be told while the thread that met the error stands still."""
    space = xplane_pb2.XSpace()
    space.planes.add(name="/oom_forensics:added at the error")
    return bytes(space.SerializeToString())


def careless(run: WrittenRun) -> bytes:
    """Fails."""
    raise ValueError(run.trace)


providers.register(careless)
providers.register(careful)
providers.register(of_the_moment, origins=("oom",))

kept = tf.random.uniform([1024, 1024], name="kept")
with oom_forensics.record(logdir / "record"):
    kept = kept * 2.0
oom_forensics.snapshot(logdir / "snapshot")
oom_forensics.configure(logdir=logdir / "oom")
with tf.profiler.experimental.Profile(str(logdir / "profile")):
    kept = kept + 1.0
    try:
        tf.zeros([1024, 1024, 1024])
    except tf.errors.ResourceExhaustedError:
        print("went on", file=sys.stderr)
with tf.profiler.experimental.Profile(str(logdir / "profile after")):
    kept = kept + 1.0
oom_forensics.configure(evidence=False)
oom_forensics.snapshot(logdir / "off")

# At an out-of-memory a provider is shown a copy of what the run will be.
traces = sorted(logdir.glob("*/plugins/profile/*/*.xplane.pb"))
added = {
    str(trace): [plane.name for plane in trace_file.plane_headers(trace) if "added" in plane.name]
    for trace in traces
}
print(json.dumps({"told": told, "added": added, "failures": providers.failures}))
