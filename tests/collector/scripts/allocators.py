"""Prints, as JSON, what every allocator says with ten tensors of 4 MiB live, and after them."""

import gc
import json

import oom_forensics
import tensorflow as tf

kept = [tf.zeros([1024, 1024]) for _ in range(10)]
live = oom_forensics.memory_stats()
del kept
gc.collect()
print(json.dumps([live, oom_forensics.memory_stats()]))
