"""Fills the first of the pluggable devices, while a profile runs, until it is out of memory.

Prints, as JSON, what was live when it ran out and what is at the end. Arguments: the plugin, the
logdir.
"""

import json
import sys

import numpy as np
import oom_forensics
import tensorflow as tf
from tensorflow.python.framework import load_library

plugin, logdir = sys.argv[1:]
load_library.load_pluggable_device_library(plugin)
# Each device gets a tensor, so that each allocator is seen.
first = []
for number in range(len(tf.config.list_logical_devices("HOSTED"))):
    with tf.device(f"/device:HOSTED:{number}"):
        first.append(tf.identity(tf.constant(np.zeros([1000], np.float32))))

with tf.device("/device:HOSTED:0"), tf.profiler.experimental.Profile(logdir):
    copied = tf.identity(tf.constant(np.full([100, 1000], 2, np.float32)))
    kept = []
    message = ""
    try:
        while True:
            kept.append(tf.raw_ops.ZerosLike(x=copied))
    except tf.errors.ResourceExhaustedError as error:
        message = error.message
    served = len(kept)
    # Every other one is given back, and the place of some taken again.
    kept = kept[::2]
    kept += [tf.raw_ops.ZerosLike(x=copied) for _ in range(3)]

with tf.device("/device:CPU:0"):
    assert float(tf.reduce_sum(tf.identity(copied))) == 200_000
print(
    json.dumps(
        {
            "device": kept[0].device,
            "message": message,
            "served": served,
            "kept": len(kept),
            "states": oom_forensics.memory_stats(),
        }
    )
)
