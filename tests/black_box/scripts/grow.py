"""Keeps every array that it makes: host memory grows until something ends it.

    python grow.py [MODE] [LIMIT_MIB]

MODE says how it ends: "grow" (until it is killed), "caught" (well, after a
MemoryError that it catches), or after LIMIT_MIB "kill", "segv", "abort",
"exit", "asked" (by the signal of the third argument), "well", "exit_well", "raise", "children"
(well, with workers of all kinds), "threads" (well, with several that allocate), "kill_with_child"
(while a forked one lives and allocates), "fork_while_short" (well, with many that were forked
meanwhile and end as Python does), "end_while_short" (well, while Python still looks, and would for
ever). "wait": makes nothing, and ends well a little later.
"""

import atexit
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np
import tensorflow as tf
from oom_forensics.in_training import host_shortage

MODE = sys.argv[1] if len(sys.argv) > 1 else "grow"
LIMIT_BYTES = int(sys.argv[2]) << 20 if len(sys.argv) > 2 else 1 << 40

history: list[np.ndarray] = []
kept_bytes = 0


def make_batch() -> np.ndarray:
    return np.ones((512, 512), np.float32)


def grow() -> None:
    global kept_bytes
    while kept_bytes < LIMIT_BYTES:
        history.append(make_batch())
        kept_bytes += history[-1].nbytes
        time.sleep(0.005)


def fork_for(seconds: float) -> list[int]:
    children = []
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        child = os.fork()
        if child == 0:
            atexit._run_exitfuncs()
            os._exit(0)
        children.append(child)
        time.sleep(0.05)
    return children


def look_for_ever(*_: object) -> None:
    print("looks", flush=True)
    while True:
        time.sleep(0.001)


def work(_: int) -> int:
    # A worker that is spawned has read this file, and so has TensorFlow.
    return make_batch().nbytes


def main() -> None:
    print("started", tf.__version__, flush=True)
    if MODE == "end_while_short":
        host_shortage._look = look_for_ever  # type: ignore[assignment]
    if MODE == "wait":
        time.sleep(8)
        return
    try:
        grow()
    except MemoryError:
        if MODE != "caught":
            raise
        print("caught", flush=True)
        history.clear()
    print("kept", kept_bytes, flush=True)
    # A sample of the end.
    time.sleep(0.3)
    if MODE == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "kill_with_child":
        if os.fork() == 0:
            more = [make_batch() for _ in range(200)]
            # Until the parent is gone for a while.
            time.sleep(15)
            os._exit(len(more))
        time.sleep(2)
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "segv":
        ctypes.string_at(0)
    elif MODE == "abort":
        os.abort()
    elif MODE == "asked":
        os.kill(os.getpid(), int(sys.argv[3]))
        time.sleep(60)
    elif MODE == "exit":
        os._exit(3)
    elif MODE == "exit_well":
        os._exit(0)
    elif MODE == "raise":
        raise ValueError("as programs end")
    elif MODE == "threads":
        threads = [threading.Thread(target=grow) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif MODE == "fork_while_short":
        for child in fork_for(3):
            assert os.waitpid(child, 0)[1] == 0
    elif MODE == "children":
        for kind in ("fork", "spawn"):
            # Leaving it stops the workers by SIGTERM.
            with multiprocessing.get_context(kind).Pool(2) as pool:
                assert sum(pool.map(work, range(4))) == 4 << 20


if __name__ == "__main__":
    main()
