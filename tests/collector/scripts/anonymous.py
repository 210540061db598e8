"""Writes a run of each kind, with real addresses and with anonymous ones.

Prints, as JSON, by kind where a real address of a live tensor stands in its files. Argument: a
folder.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import oom_forensics
import tensorflow as tf
from google.protobuf.message import Message
from tensorflow.tsl.profiler.protobuf import xplane_pb2

FOLDER = Path(sys.argv[1])
kept = [tf.random.normal([64, 1024]) for _ in range(8)]
REAL = {np.frombuffer(memoryview(tensor), np.float32).ctypes.data for tensor in kept}
NEAR = 1 << 32


def is_real(number: int) -> bool:
    """Whether it is, or lies where the pool of the tensors lies."""
    return any(abs(number - address) < NEAR for address in REAL)


def varints(content: bytes) -> Iterator[int]:
    """Every number that a protocol buffer inside of `content` may hold."""
    for begin in range(len(content)):
        number = 0
        for i, byte in enumerate(content[begin : begin + 10]):
            number |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                yield number
                break


def in_trace(space: Any) -> Iterator[str]:
    for plane in space.planes:
        # What TensorFlow's own profiler writes of its allocators is not the collector's.
        if plane.name == "/host:CPU":
            continue
        messages: list[tuple[str, Message]] = [("plane", plane)]
        messages += [("metadata", each) for each in plane.event_metadata.values()]
        messages += [("event", each) for line in plane.lines for each in line.events]
        for where, message in messages:
            for stat in message.stats:
                value = getattr(stat, stat.WhichOneof("value"))
                if isinstance(value, bytes):
                    found = any(n in REAL for n in varints(value))
                elif isinstance(value, str):
                    found = any(f"{a:x}" in value or str(a) in value for a in REAL)
                else:
                    found = is_real(int(value))
                if found:
                    yield f"{plane.name} {where} {plane.stat_metadata[stat.metadata_id].name}"


def found_in(folder: Path) -> list[str]:
    found: set[str] = set()
    for path in folder.rglob("*.xplane.pb"):
        found.update(in_trace(xplane_pb2.XSpace.FromString(path.read_bytes())))
    return sorted(found)


def record(folder: Path) -> None:
    with oom_forensics.record(folder):
        kept.append(tf.ones([64, 1024]))


def profile(folder: Path) -> None:
    with tf.profiler.experimental.Profile(str(folder)):
        kept.append(tf.ones([64, 1024]))


def snapshot(folder: Path) -> None:
    oom_forensics.snapshot(folder)


def out_of_memory(folder: Path) -> None:
    oom_forensics.configure(logdir=folder)
    try:
        tf.zeros([300, 1024, 1024])
    except tf.errors.ResourceExhaustedError:
        return
    raise AssertionError("there was memory enough")


def written_by(write: Callable[[Path], None], name: str) -> list[str]:
    write(FOLDER / name)
    return found_in(FOLDER / name)


real = {"snapshot": written_by(snapshot, "real")}
oom_forensics.configure(anonymize_addresses=True)
kinds = (record, profile, snapshot, out_of_memory)
anonymous = {write.__name__: written_by(write, write.__name__) for write in kinds}
print(json.dumps({"real": real, "anonymous": anonymous}))
