"""Jobs that the kernel kills for want of memory, each for a reason of its own.

    python host_causes.py CAUSE [cured]

CAUSE: the name of a function below. "cured": as the report's advice says; it ends well.
"""

import ctypes
import multiprocessing
import os
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

CAUSE = sys.argv[1]
CURED = sys.argv[2] if len(sys.argv) > 2 else ""


# Not all the same: XLA would keep one number of it.
TABLE = np.arange(1024 * 1536, dtype=np.float32).reshape(1024, 1536)


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
    model = tf.keras.Sequential([tf.keras.Input((3600,)), tf.keras.layers.Dense(3600)])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    if CURED:
        tf.train.Checkpoint(model=model).write(os.path.join(folder, "checkpoint"))
    else:
        model.save(os.path.join(folder, "model.keras"))


def parallel() -> None:
    images = tf.data.Dataset.range(40).map(load_large, num_parallel_calls=int(CURED or 16))
    for index, _ in enumerate(images):
        # All calls come to their end meanwhile, also on a busy machine.
        time.sleep(8 if index == 0 else 0)


def load_large(_: tf.Tensor) -> tf.Tensor:
    return tf.random.uniform([3072, 3072])


def compiled() -> None:
    @tf.function(  # type: ignore[untyped-decorator]
        jit_compile=not CURED, input_signature=[tf.TensorSpec([None, 1024])]
    )
    def embed(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x @ TABLE)

    for length in range(1, 121):
        embed(tf.ones([length, 1024]))


def malloc() -> None:
    kept = parse()
    # Until a look at half of the memory is over, which keeps the rows, and one that asks malloc.
    for _ in range(50):
        if CURED:
            ctypes.CDLL(None).malloc_trim(0)
        time.sleep(0.1)
    for _ in range(24):
        kept.append(np.ones(8 << 20, np.uint8))
        time.sleep(0.02)


def parse() -> list[np.ndarray]:
    # The few that stay keep malloc from giving back what lies between them.
    rows = [np.ones(100_000, np.uint8) for _ in range(2000)]
    return rows[::40]


def tensors() -> None:
    kept = {}
    for step in range(600):
        kept[step] = tf.nn.relu(tf.ones([512, 512]))
        time.sleep(0.002)


def data_set() -> None:
    images = np.ones((600, 512, 512), np.float32)
    print(tf.data.Dataset.from_tensor_slices(images))


def predict() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Conv2D(16, 3, activation="relu")])
    features = []
    for _ in range(60):
        features.append(model.predict(np.ones((16, 96, 96, 3), np.float32), verbose=0))


def models() -> None:
    results = []
    for _ in range(20):
        model = tf.keras.Sequential([tf.keras.layers.Dense(2500), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        results.append(model.fit(np.ones((16, 1000)), np.ones((16, 1)), verbose=0))


def workers() -> None:
    for _ in range(4):
        multiprocessing.get_context("fork").Process(target=work).start()


def work() -> None:
    kept = []
    while True:
        kept.append(np.ones(1 << 20, np.uint8))
        time.sleep(0.01)


globals()[CAUSE]()
