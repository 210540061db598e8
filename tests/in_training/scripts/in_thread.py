"""Imports TensorFlow in a thread that the main thread waits for. Argument: a logdir."""

import sys
import threading
from typing import Any


def work() -> None:
    """All that the program does."""
    import oom_forensics
    import tensorflow as tf

    kept: list[Any] = [tf.zeros([1 << 20])]
    oom_forensics.snapshot(sys.argv[1])
    print(len(kept))


thread = threading.Thread(target=work)
thread.start()
thread.join()
