"""Prints, as JSON, the CPU's malloc as it is before, while and after the collector is switched off.

Each time ten tensors of 4 MiB are made and given back; two are kept from before.
"""

import gc
import json

import oom_forensics
import tensorflow as tf


def cpu() -> dict[str, int]:
    """The state of the CPU's malloc, now."""
    return next(state for state in oom_forensics.memory_stats() if state["name"] == "cpu#0")


def ten_tensors() -> dict[str, int]:
    """The state while ten more tensors are live; they are gone when it returns."""
    made = [tf.zeros([1024, 1024]) for _ in range(10)]
    state = cpu()
    del made
    gc.collect()
    return state


kept = [tf.zeros([1024, 1024]) for _ in range(2)]
states = {"kept": cpu(), "on": ten_tensors()}
oom_forensics.configure(enabled=False)
states["off"] = ten_tensors()
states["before again"] = cpu()
oom_forensics.configure(enabled=True)
states["on again"] = ten_tensors()
states["after"] = cpu()
print(json.dumps(states))
