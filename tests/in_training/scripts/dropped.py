"""Drops arrays while Python looks for who holds most. Prints how long the look took, and how long
the array lived on that lived longest, in seconds.
"""

import threading
import time
import weakref
from typing import Any

import numpy as np
import tensorflow as tf
from oom_forensics.in_training import host_shortage
from oom_forensics.in_training.collector_library import CollectorLibrary

library: Any = CollectorLibrary.loaded()
keras: Any = tf.keras
# A heap that takes a while.
many = [[{"at": at}] for at in range(300_000)]
kept = [np.ones([1 << 20], np.float32) for _ in range(32)]
took_s: list[float] = []


def look() -> None:
    """As at half of the memory."""
    began_s = time.monotonic()
    host_shortage._look(library, 50, 1 << 40)
    took_s.append(time.monotonic() - began_s)


def lived_on_s(dropped: weakref.ref[Any]) -> float:
    """How long an object lives that nobody has but who looks at it."""
    began_s = time.monotonic()
    while dropped() is not None:
        time.sleep(0.005)
    return time.monotonic() - began_s


thread = threading.Thread(target=look)
thread.start()
longest_s = 0.0
while thread.is_alive():
    batches = [[np.ones([1 << 10], np.float32)] for _ in range(8)]
    time.sleep(0.02)
    last = weakref.ref(batches[-1][0])
    batches.clear()
    longest_s = max(longest_s, lived_on_s(last))
thread.join()
print(took_s[0], longest_s)
