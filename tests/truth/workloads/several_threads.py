"""Threads that allocate and free at once; each keeps some; then one request too many."""

import random
import sys
import threading

import tensorflow as tf

MIB = 1 << 20

logdir = sys.argv[1]
kept: dict[int, list[tf.Tensor]] = {}


def work(seed: int) -> None:
    choose = random.Random(seed)
    held: list[tf.Tensor] = []
    for _ in range(400):
        held.append(tf.fill([choose.randint(1, 64) * 1000], float(seed)))
        if len(held) > 60:
            held.pop(choose.randrange(len(held)))
    kept[seed] = held


tf.fill([1], 0.0)  # TensorFlow's dispatcher bears no threads at an op's first call.
with tf.profiler.experimental.Profile(logdir):
    threads = [threading.Thread(target=work, args=[seed]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tf.zeros([200 * MIB], tf.uint8)
raise SystemExit("this must run out of memory")
