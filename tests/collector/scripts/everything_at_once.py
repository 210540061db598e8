"""Threads, fork, spawn, tf.data workers, sessions one after the other and one that dies,
reload of the module, and an end with live tensors. Argument: a folder to write to."""

import importlib
import multiprocessing
import os
import sys
import threading

import tensorflow as tf


def allocate(times: int) -> float:
    kept = []
    for i in range(times):
        kept.append(tf.random.stateless_normal([i % 50 + 1, 64], seed=[1, i]))
        if len(kept) > 20:
            kept.pop(i % 20)
    return float(tf.reduce_sum(kept[-1]))


def in_spawned_child(queue: "multiprocessing.Queue[float]") -> None:
    queue.put(allocate(50))


def fork_while_threads_allocate() -> None:
    threads = [threading.Thread(target=allocate, args=(300,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    for thread in threads:
        thread.join()


def main() -> None:
    folder = sys.argv[1]
    allocate(100)
    fork_while_threads_allocate()

    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=in_spawned_child, args=(queue,))
    process.start()
    assert queue.get(timeout=120) == allocate(50)
    process.join()

    data = tf.data.Dataset.range(200).map(
        lambda i: tf.zeros([64, 64]) + tf.cast(i, tf.float32), num_parallel_calls=4
    )
    assert sum(1 for _ in data.prefetch(4)) == 200

    for number in range(2):
        with tf.profiler.experimental.Profile(f"{folder}/session{number}"):
            allocate(100)
    importlib.reload(tf)
    kept = tf.zeros([1000, 100])
    # A session that is never stopped, and live tensors, at the end.
    tf.profiler.experimental.start(f"{folder}/dies")
    allocate(100)
    print("everything done", kept.shape)


if __name__ == "__main__":
    main()
