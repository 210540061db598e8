"""Asks for the last report before an out-of-memory and after it."""

import oom_forensics
import tensorflow as tf

print(oom_forensics.last_report())
try:
    tf.zeros([400 << 18])
except tf.errors.ResourceExhaustedError:
    trace = oom_forensics.last_report()
    assert trace is not None
    with trace:
        print(trace.path)
        print(trace.oom_window().ooms[0].verdict.kind)
