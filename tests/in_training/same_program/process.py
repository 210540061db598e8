"""The process: threads, signals, hooks, exit, files, and children of each kind."""

import atexit
import contextlib
import gc
import locale
import multiprocessing
import os
import random
import signal
import sys
import threading
import warnings
from typing import Any

import numpy as np

atexit.register(print, "registered before the import")
import tensorflow as tf  # noqa: E402

atexit.register(print, "registered after the import")


def child(queue: Any) -> None:
    """Works in another process: TensorFlow itself may hang in the child of a fork."""
    if multiprocessing.current_process().name == "spawn":
        queue.put(float(tf.reduce_sum(tf.Variable(tf.ones([10])) * 2)))
    else:
        queue.put(tf.__version__)


def work(results: list[float]) -> None:
    """Trains a little in a thread."""
    results.append(float(tf.reduce_sum(tf.ones([100]))))


if __name__ == "__main__":
    print(float(tf.reduce_sum(tf.ones([4]))))
    signals = sorted(signal.Signals) if hasattr(signal, "Signals") else []
    print([(each.name, signal.getsignal(each)) for each in signals if each.name != "SIGINT"])
    print(sys.excepthook is sys.__excepthook__, threading.excepthook is threading.__excepthook__)
    print(sys.unraisablehook is sys.__unraisablehook__, sys.displayhook is sys.__displayhook__)
    print(
        sys.gettrace(),
        sys.getprofile(),
        threading.gettrace() if sys.version_info >= (3, 10) else "",
    )
    print(gc.isenabled(), gc.get_threshold(), gc.callbacks == [], sys.getswitchinterval())
    print(sys.getrecursionlimit(), locale.setlocale(locale.LC_ALL), os.getcwd() != "")
    print([thread.name for thread in threading.enumerate()])
    print(multiprocessing.get_start_method(allow_none=True), len(warnings.filters))
    print(sorted(name for name in os.environ if "OOM_FORENSICS" not in name))
    print(sys.path, sys.argv, sys.flags)
    print(os.umask(0o22), random.Random(1).random(), np.random.default_rng(1).random())
    print(float(tf.random.Generator.from_seed(1).uniform([])))
    results: list[float] = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(results)
    if (pid := os.fork()) == 0:
        print("in a child", sum(range(10)), flush=True)
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    for method in ("fork", "spawn", "forkserver"):
        multiple: Any = multiprocessing.get_context(method)
        queue = multiple.Queue()
        process = multiple.Process(target=child, args=(queue,), name=method)
        process.start()
        answer = queue.get(timeout=120)
        # What a child prints at its own end is not mixed with what follows.
        process.join(60)
        print(method, answer, process.exitcode, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    sys.exit(3)
