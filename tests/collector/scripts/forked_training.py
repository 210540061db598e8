"""Children of fork(), made at any moment, train and run out of memory; the parent goes on.

Argument: a folder; each child's runs go into one of its own. The first child is made before
TensorFlow has done anything and trains a Keras model. The others are made while a thread of the
parent records, writes snapshots and asks the allocators. TensorFlow's own threads are not in
these: they train op by op. And no op runs at the very moment: TensorFlow's allocator holds a
lock of its own then, which the child would wait for, with the collector or without. Nor is an
op of several threads the first of its kind: TensorFlow's dispatcher (python_api_dispatcher.cc)
then asks Python about arguments that another thread has put in their place.
"""

import contextlib
import os
import random
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import oom_forensics
import tensorflow as tf

CHILDREN = 8
tf.config.threading.set_intra_op_parallelism_threads(1)
folder = Path(sys.argv[1])
stop = threading.Event()


def run_out_of_memory(name: str) -> None:
    """Until it has; the recorder then writes into the folder of that name."""
    oom_forensics.configure(logdir=folder / name)
    try:
        tf.zeros([300, 1024, 1024])
    except tf.errors.ResourceExhaustedError:
        return
    raise AssertionError("there was memory enough")


def train_keras() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    data = np.random.default_rng(0).normal(size=(64, 16)).astype("float32")
    losses = model.fit(data, data[:, :1], epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0], losses


def train_by_hand() -> None:
    weights = tf.Variable(tf.random.normal([64, 64], seed=1))
    data = tf.random.normal([128, 64], seed=2)
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((data @ weights) ** 2)
        weights.assign_sub(tape.gradient(loss, weights))
        losses.append(float(loss))
    assert losses[-1] < losses[0], losses


def child_that(train: Callable[[], None], name: str) -> int:
    """Its process id. It ends with 0 where all went well."""
    child = os.fork()
    if child != 0:
        return child
    try:
        train()
        with oom_forensics.record(folder / name / "recorded"):
            train()
        run_out_of_memory(name)
        os._exit(0)
    except BaseException:  # the parent's stack lies below
        traceback.print_exc()
        os._exit(1)


def some_ops() -> None:
    tf.reduce_sum(tf.random.normal([64, 64]) @ tf.ones([64, 64]))


def allocate(may_go_on: threading.Lock) -> None:
    while not stop.is_set():
        with may_go_on:
            some_ops()


def keep_the_collector_busy() -> None:
    """Every lock of the collector is held now and then."""
    number = 0
    while not stop.is_set():
        number += 1
        with oom_forensics.record(folder / "parent" / "recorded"):
            oom_forensics.memory_stats()
        oom_forensics.configure(max_reports=100 + number % 2)
        oom_forensics.configure(source_lines=number % 2 == 0)
        oom_forensics.snapshot(folder / "parent" / "snapshots")


first = child_that(train_keras, "first")
some_ops()
children = []
gates = [threading.Lock() for _ in range(3)]
threads = [threading.Thread(target=allocate, args=[gate]) for gate in gates]
threads.append(threading.Thread(target=keep_the_collector_busy))
for thread in threads:
    thread.start()
for number in range(CHILDREN):
    # Any moment is as good as another.
    threading.Event().wait(random.random() / 20)
    with contextlib.ExitStack() as closed:
        for gate in gates:
            closed.enter_context(gate)
        children.append(child_that(train_by_hand, f"child{number}"))
stop.set()
for thread in threads:
    thread.join()
run_out_of_memory("parent")
print([os.waitpid(child, 0)[1] for child in [first, *children]])
