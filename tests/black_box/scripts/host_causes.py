"""Jobs that the kernel kills for want of memory, each for a reason of its own.

    python host_causes.py CAUSE [cured]

CAUSE: "retracing", "shuffle", "cache", "save". "cured": as the report's advice says; it ends well.
"""

import os
import sys
import tempfile

import numpy as np
import tensorflow as tf

CAUSE = sys.argv[1]
CURED = sys.argv[2] if len(sys.argv) > 2 else ""


TABLE = np.ones((1024, 1536), np.float32)


@tf.function  # type: ignore[untyped-decorator]
def train_step(x: tf.Tensor, rate: tf.Tensor | float) -> tf.Tensor:
    # Each graph keeps the table as a constant.
    return tf.reduce_sum(x @ TABLE) * rate


def retracing() -> None:
    x = tf.ones([8, 1024])
    for step in range(400):
        rate = step * 0.001
        train_step(x, tf.constant(rate) if CURED else rate)


def load(_: tf.Tensor) -> tf.Tensor:
    return tf.random.uniform([512, 512])


def shuffle() -> None:
    images = tf.data.Dataset.range(2000).map(load)
    images = images.shuffle(int(CURED or 2000))
    for _ in images:
        pass


def cache() -> None:
    images = tf.data.Dataset.range(600).map(load)
    images = images.cache(tempfile.mkdtemp() + "/cache") if CURED else images.cache()
    for _ in images:
        pass


def save() -> None:
    folder = tempfile.mkdtemp()
    model = tf.keras.Sequential([tf.keras.Input((4000,)), tf.keras.layers.Dense(4000)])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    if CURED:
        tf.train.Checkpoint(model=model).write(os.path.join(folder, "checkpoint"))
    else:
        model.save(os.path.join(folder, "model.keras"))


{"retracing": retracing, "shuffle": shuffle, "cache": cache, "save": save}[CAUSE]()
