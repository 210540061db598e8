"""Records the small trace that tests and fuzzer read: a stock profile of a step compiled by XLA.

    OOM_FORENSICS=0 TF_CPU_ALLOCATOR_USE_BFC=1 TF_CPU_BFC_MEM_LIMIT_IN_MB=256 \\
      .venv/bin/python tests/compiled/record_golden.py \\
      converter/fuzz/corpus/trace/compiled.xplane.pb

Of the profile it keeps what says something of memory: the modules, the allocator's events, the
clock.
"""

import pathlib
import sys
import tempfile

import keras
import numpy as np
import tensorflow as tf
from tensorflow.compiler.xla.service import hlo_pb2
from tensorflow.tsl.profiler.protobuf import xplane_pb2

_MEMORY_EVENTS = ("MemoryAllocation", "MemoryDeallocation")


def _train(logdir: str) -> None:
    model = keras.Sequential(
        [
            keras.Input((16,)),
            keras.layers.Dense(64, activation="gelu", name="mix_0"),
            keras.layers.Dense(64, activation="gelu", name="mix_1"),
            keras.layers.Dense(4, name="head"),
        ]
    )
    model.compile("adam", "mse", jit_compile=True)
    inputs = np.zeros((512, 16), np.float32)
    targets = np.zeros((512, 4), np.float32)
    with tf.profiler.experimental.Profile(logdir):
        model.fit(inputs, targets, batch_size=256, verbose=0)


def _without_debug_info(module: bytes) -> bytes:
    proto = hlo_pb2.HloProto.FromString(module)
    proto.hlo_module.ClearField("stack_frame_index")
    for computation in proto.hlo_module.computations:
        for instruction in computation.instructions:
            instruction.ClearField("backend_config")
            op_name = instruction.metadata.op_name
            instruction.metadata.Clear()
            instruction.metadata.op_name = op_name
    return bytes(proto.SerializeToString(deterministic=True))


def _shrink(space: xplane_pb2.XSpace) -> xplane_pb2.XSpace:
    kept = xplane_pb2.XSpace(hostnames=["golden"])
    for plane in space.planes:
        if plane.name in ("/host:metadata", "Task Environment"):
            copy = kept.planes.add()
            copy.CopyFrom(plane)
            for event in copy.event_metadata.values():
                for stat in event.stats:
                    stat.bytes_value = _without_debug_info(stat.bytes_value)
        if plane.name != "/host:CPU":
            continue
        copy = kept.planes.add(id=plane.id, name=plane.name)
        for key, stat in plane.stat_metadata.items():
            copy.stat_metadata[key].CopyFrom(stat)
        ids = {key for key, event in plane.event_metadata.items() if event.name in _MEMORY_EVENTS}
        for key in ids:
            copy.event_metadata[key].CopyFrom(plane.event_metadata[key])
        for line in plane.lines:
            events = [event for event in line.events if event.metadata_id in ids]
            if events:
                slim = copy.lines.add(id=line.id, name=line.name, timestamp_ns=line.timestamp_ns)
                slim.events.extend(events)
    return kept


def main() -> None:
    with tempfile.TemporaryDirectory() as logdir:
        _train(logdir)
        (recorded,) = pathlib.Path(logdir).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(recorded.read_bytes())
    pathlib.Path(sys.argv[1]).write_bytes(_shrink(space).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
