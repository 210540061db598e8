"""Records tensors of three sizes with the settings of the environment.

Prints, as JSON, what the trace says of the first allocator, decoded with TensorFlow's own
protocol buffers. Argument: the logdir.
"""

import json
import pathlib
import sys
from typing import Any

import oom_forensics
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

tf.zeros([1])
with oom_forensics.record(sys.argv[1]):
    kept = [tf.fill([64], float(i)) for i in range(400)]
    kept += [tf.fill([4096], float(i)) for i in range(400)]
    kept += [tf.fill([1024, 512], float(i)) for i in range(3)]

space = xplane_pb2.XSpace()
space.ParseFromString(next(pathlib.Path(sys.argv[1]).rglob("*.xplane.pb")).read_bytes())
plane = next(plane for plane in space.planes if "bfc" in plane.name)


def values(stats: Any) -> dict[str, Any]:
    """Returns the stats by name."""
    found = {}
    for stat in stats:
        value = getattr(stat, stat.WhichOneof("value"))
        found[plane.stat_metadata[stat.metadata_id].name] = value
    return found


allocations = []
for line in plane.lines:
    for event in line.events if line.name == "events" else ():
        metadata = plane.event_metadata[event.metadata_id]
        if metadata.name == "alloc" and metadata.display_name == "Fill":
            site = values(metadata.stats)
            stats = values(event.stats)
            allocations.append(
                {
                    "requested": site["requested_bytes"],
                    "address": stats["address"],
                    "weight": stats.get("weight", 1.0),
                }
            )
print(json.dumps({"allocations": allocations, "totals": values(plane.stats)["total_allocs"]}))
