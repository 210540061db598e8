"""Runs out of memory beside embeddings, each larger than what is free. Argument: a logdir."""

import sys
import time

import oom_forensics
import tensorflow as tf

oom_forensics.configure(logdir=sys.argv[1])
MEBIBYTE_OF_FLOATS = 1 << 18


def requests() -> dict[str, int]:
    """Requests that were served, by allocator."""
    return {each["name"]: each.get("allocations", 0) for each in oom_forensics.memory_stats()}


tables = [tf.Variable(tf.zeros([64 * 1024, 256])) for _ in range(3)]
for table in tables:
    # From now on a read of it is a copy.
    table.scatter_add(tf.IndexedSlices(tf.ones([1, 256]), tf.constant([7])))

before = requests()
oom_forensics.snapshot()
print("requests of a snapshot:", [requests()[name] - count for name, count in before.items()])

began_s = time.monotonic()
try:
    tf.zeros([90, MEBIBYTE_OF_FLOATS])
except tf.errors.ResourceExhaustedError as error:
    print("seconds until the error:", int(time.monotonic() - began_s))
    print("notes:", len(error.__notes__))
for table in tables:
    table.scatter_add(tf.IndexedSlices(tf.ones([1, 256]), tf.constant([7])))
print("values:", [float(tf.gather(table, [7])[0, 0]) for table in tables])
