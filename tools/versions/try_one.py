"""Tries the collector on the TensorFlow of this environment; exits 1 if it falls short.

Runs out of memory for real and compares what the recorder kept with TensorFlow's own
chunk map, address by address. Eager ops, nodes of graphs and training steps have to be
told apart, the sizes of the CPU's plain malloc to be known, and what XLA allocates to be
named.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "256"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from oom_forensics.in_training.collector_library import CollectorLibrary
from tensorflow.core.protobuf import bfc_memory_map_pb2
from tensorflow.tsl.profiler.protobuf import xplane_pb2


def require(condition: object, sentence: str) -> None:
    """Ends the try with a sentence where the condition does not hold."""
    if not condition:
        raise SystemExit(sentence)


def stats_of(plane: Any, stats: Any) -> dict[str, Any]:
    """Returns the stats of an event or its metadata by name."""
    found = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        name = plane.stat_metadata[stat.metadata_id].name
        found[name] = plane.stat_metadata[value].name if kind == "ref_value" else value
    return found


@tf.function  # type: ignore[untyped-decorator]
def in_graph(tensor: Any) -> Any:
    """A node that allocates, with a name that no eager op has."""
    return tf.matmul(tensor, tensor, name="product")


@tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
def compiled(tensor: Any) -> Any:
    """What XLA allocates: one result of 3 KiB, and what it needs on the way."""
    return tf.linalg.matmul(tensor, tensor)[:, :12]


def run_out_of_memory(logdir: Path) -> None:
    """Fills the pool with tensors of many sizes until it is full."""
    kept = [tf.zeros([100 + i, 30]) for i in range(20)]
    with tf.profiler.experimental.Profile(str(logdir)):
        with tf.profiler.experimental.Trace("train", step_num=7):
            in_graph(tf.ones([64, 64]))
            compiled(tf.ones([64, 64]))
        try:
            for i in range(10_000):
                kept.append(tf.random.normal([64 + i, 1024]))
                if i % 3 == 0:
                    kept[i] = None
        except tf.errors.ResourceExhaustedError:
            return
    raise SystemExit("there was no out-of-memory")


def modules_of(space: Any) -> set[int]:
    """Returns the program ids of the modules that TensorFlow itself wrote."""
    return {
        key
        for plane in space.planes
        if plane.name == "/host:metadata"
        for key in plane.event_metadata
    }


def check(logdir: Path) -> None:
    """Compares the trace with the chunk map in it."""
    space = xplane_pb2.XSpace()
    (trace,) = [path for path in logdir.rglob("*.xplane.pb") if "_oom" not in str(path)]
    space.ParseFromString(trace.read_bytes())
    (plane,) = [plane for plane in space.planes if "bfc" in plane.name]
    live: dict[int, tuple[int, int]] = {}
    named = 0
    eager: dict[str, set[int]] = {}
    steps = []
    of_xla = []
    for line in plane.lines:
        for event in line.events:
            metadata = plane.event_metadata[event.metadata_id]
            site = stats_of(plane, metadata.stats)
            stats = stats_of(plane, event.stats)
            if metadata.name == "alloc":
                live[stats["address"]] = (site["allocated_bytes"], site["requested_bytes"])
                named += "op" in site and "shape" in site
                if "compiled_function" in site:
                    of_xla.append(site)
                eager.setdefault(site.get("op", ""), set()).add(site.get("eager", -1))
            elif metadata.name == "step_begin":
                steps.append(stats["step"])
            elif metadata.name == "free":
                del live[stats["address"]]
            elif metadata.name == "failed":
                dump = bfc_memory_map_pb2.MemoryDump.FromString(stats["memory_dump"])
                expected = {c.address: (c.size, c.requested_size) for c in dump.chunk if c.in_use}
                require(live == expected, "the live set differs from TensorFlow's chunk map")
                require(named > 100, "allocations have no op names")
                require(eager["RandomStandardNormal"] == {1}, "an eager op is not told as one")
                require(eager["product"] == {0}, "a node of a graph is not told as one")
                require(steps == [7, -1], "the training step is not told")
                (result,) = (site for site in of_xla if site["buffer_kind"] == "output")
                require(result["compiled_function"] == "compiled", "a compiled function is unnamed")
                require(result["requested_bytes"] == 64 * 12 * 4, "another result was expected")
                require("buffer_allocation" in result, "a buffer of XLA is not known by index")
                require(modules_of(space) >= {result["hlo_program_id"]}, "its module is another")
                print(f"{len(live)} live chunks as in TensorFlow's map, {named} with op and shape")
                return
    raise SystemExit("the failure is not in the trace")


def main() -> None:
    """Prints what was found."""
    library = CollectorLibrary.loaded()
    if library is None:
        raise SystemExit("TensorFlow did not load the collector")
    status = library.status()
    print(f"TensorFlow {tf.__version__}: {status['hooks']}; op names {status['attribution']}")
    require(status["hooked"], "this TensorFlow is not recognized")
    require(status["attribution"] == "on", "this TensorFlow's op names are not recognized")
    require("CPUAllocator: sizes counted" in status["hooks"], "sizes of malloc are not counted")
    require("order between threads: as served" in status["hooks"], "the pool's order is not seen")
    for part in ("PluggableDeviceSimpleAllocator", "names of devices of tensorflow::Pluggable"):
        (line,) = (line for line in status["hooks"].splitlines() if part in line)
        require(line.endswith(": hooked"), line)
    with tempfile.TemporaryDirectory() as folder:
        run_out_of_memory(Path(folder))
        check(Path(folder))
        runs = list(Path(folder).rglob("*_oom/*.xplane.pb"))
        require(runs, "no run was written")


if __name__ == "__main__":
    main()
