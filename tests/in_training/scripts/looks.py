"""Prints what each look of ours at this process requested of the allocators. Argument: a logdir.

There is a variable of every kind that TensorFlow reads in a way of its own.
"""

import gc
import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import oom_forensics
import tensorflow as tf
from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import providers
from oom_forensics.in_training.step_forecast import first_values

keras: Any = tf.keras
oom_forensics.configure(logdir=sys.argv[1])
library: Any = CollectorLibrary.loaded()


def requests() -> dict[str, int]:
    """Requests of every allocator that were served."""
    return {each["name"]: each.get("allocations", 0) for each in oom_forensics.memory_stats()}


def counted(name: str, look: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; says what was requested while it ran."""

    def look_and_count(*arguments: Any) -> Any:
        before = requests()
        try:
            return look(*arguments)
        finally:
            more = {each: count - before.get(each, 0) for each, count in requests().items()}
            what = {each: count for each, count in more.items() if count}
            print(f"{name} requested: {what or 'nothing'}", flush=True)

    return look_and_count


cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

dense = tf.Variable(tf.random.uniform([256, 1024]))
sparse = tf.Variable(tf.random.uniform([256, 1024]))
sparse.scatter_add(tf.IndexedSlices(tf.ones([1, 1024]), tf.constant([3])))
quantized = tf.Variable(tf.quantization.quantize(dense, 0.0, 1.0, tf.qint8).output)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    mirrored = tf.Variable(tf.random.uniform([256, 1024]))
ragged = tf.ragged.constant([[1.0] * 1000, [2.0] * 2000])
lookup = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, tf.zeros([]))
lookup.insert(tf.range(1000, dtype=tf.int64), tf.ones([1000]))
iterator = iter(tf.data.Dataset.from_tensors(tf.zeros([1024, 64])).repeat())
element = next(iterator)


@tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
def compiled(x: Any) -> Any:
    """An update of a variable by a function that XLA compiles."""
    return dense.assign_add(tf.exp(x))


compiled(tf.zeros([256, 1024]))
slots: list[Any] = []


@tf.function  # type: ignore[untyped-decorator]
def make_and_scatter() -> None:
    """Makes variables that may share the buffer of their first value; a read of each is a copy."""
    if not slots:
        slots.extend(tf.Variable(tf.zeros([256, 1024])) for _ in range(2))
    for slot in slots:
        slot.scatter_add(tf.IndexedSlices(tf.ones([1, 1024]), tf.constant([3])))


make_and_scatter()
model = keras.Sequential([keras.layers.Embedding(4096, 64), keras.layers.Dense(64)])
model.compile(keras.optimizers.Adam(), "mse", jit_compile=False)
ids, wanted = np.zeros([64, 20], np.int32), np.zeros([64, 20, 64], np.float32)
model.fit(ids, wanted, batch_size=32, verbose=0)

# What dies without a search for cycles must die so after our looks, too.
gc.disable()


class Local:
    """A local variable of a function that runs out of memory."""


kept: list[Any] = [
    tf.zeros([256, 1024]),
    tf.Variable(tf.zeros([256, 1024])),
    tf.zeros([4, 4]).numpy(),
    Local(),
]
alive = [weakref.ref(each) for each in kept]

providers.register(lambda _: tf.zeros([1 << 30]) and None, origins=("oom",))
providers._registered[:] = [
    replace(each, provider=counted(each.provider.__qualname__, each.provider))
    for each in providers._registered
]
counted("first values", first_values.in_one_buffer)(library)
counted("snapshot", oom_forensics.snapshot)()
counted("statistics", oom_forensics.memory_stats)()


@tf.function  # type: ignore[untyped-decorator]
def train(rows: int) -> None:
    """A step whose activations do not fit."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.zeros([rows, 20], tf.int32)) ** 2)
    variables = model.trainable_variables
    model.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


def call_train() -> None:
    """Has what the look at its frame sees."""
    local = Local()
    alive.append(weakref.ref(local))
    train(20_000)


try:
    call_train()
except tf.errors.ResourceExhaustedError:
    print("out of memory")
kept.clear()
print("live on:", [type(each()).__name__ for each in alive if each() is not None])
print("refused in all:", library.status()["outOfMemories"])
print("failures:", providers.failures)
