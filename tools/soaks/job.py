"""Trains in four threads that run out of memory again and again, and catch it.

Arguments: a logdir, seconds in all, seconds between two out-of-memories of a thread. Prints a
line of JSON every second.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import oom_forensics

# The recording fills early: what it takes then is not growth.
oom_forensics.configure(logdir=sys.argv[1], capture_events=20_000, enabled=True)

import tensorflow as tf  # noqa: E402

THREADS = 4
end_s = time.monotonic() + float(sys.argv[2])
every_s = float(sys.argv[3])
caught = [0] * THREADS
steps = [0] * THREADS
keras: Any = tf.keras


def train(thread: int) -> None:
    """Small steps, and every now and then one that does not fit."""
    model = keras.Sequential([keras.Input([64]), *(keras.layers.Dense(256) for _ in range(4))])
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)

    @tf.function  # type: ignore[untyped-decorator]
    def step(rows: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(rows) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    # Not all at once: who waits for memory must not always be refused with the others.
    next_s = time.monotonic() + (1 + thread) * every_s / THREADS
    while time.monotonic() < end_s:
        step(tf.random.normal([64, 64]))
        steps[thread] += 1
        time.sleep(0.02)
        if time.monotonic() > next_s:
            next_s = time.monotonic() + every_s
            try:
                step(tf.zeros([500_000, 64]))
            except tf.errors.ResourceExhaustedError:
                caught[thread] += 1


def anonymous_bytes() -> int:
    """Memory of this process that no file stands for."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise ValueError("the kernel does not tell RssAnon")


threads = [threading.Thread(target=train, args=(i,)) for i in range(THREADS)]
with oom_forensics.record(sys.argv[1] + "/recording"):
    for each in threads:
        each.start()
    while any(each.is_alive() for each in threads):
        time.sleep(1)
        state = {"rss_bytes": anonymous_bytes(), "caught": sum(caught), "steps": sum(steps)}
        print(json.dumps(state), flush=True)
