"""Runs compiled functions, with no word of OOM Forensics unless asked for a snapshot.

Usage: compiled.py oom LOGDIR      a Keras model, compiled, too large for the memory
       compiled.py all LOGDIR      one function of each kind: under the profiler, then a
                                   snapshot after them; prints its folder
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_XLA_FLAGS"] = (
    "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_min_cluster_size=2"
)

import numpy as np
import tensorflow as tf

BATCH = 256
FEATURES = 64


def make_model(width: int) -> Any:
    layers = tf.keras.layers
    inputs = tf.keras.Input([FEATURES])
    hidden = layers.Dense(width, activation="gelu", name="wide")(inputs)
    hidden = layers.Dense(width, activation="gelu", name="wider")(hidden)
    return tf.keras.Model(inputs, layers.Dense(1, name="head")(hidden), name="mixer")


def fit(batch: int, examples: int, width: int) -> None:
    model = make_model(width)
    model.compile("adam", "mse", jit_compile=True)
    rows = np.ones([examples, FEATURES], np.float32)
    model.fit(rows, rows[:, :1], batch_size=batch, verbose=0)


@tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
def my_step(tensor: Any) -> Any:
    """Compiled because it says so."""
    return tf.reduce_sum(tf.nn.gelu(tf.matmul(tensor, tensor)), axis=0), tensor * 3


@tf.function  # type: ignore[untyped-decorator]
def clustered(tensor: Any) -> Any:
    """Compiled because TensorFlow thinks that it pays."""
    return tf.nn.gelu(tf.matmul(tf.sin(tensor) + 1.0, tensor)) * 2.0 - 1.0


def everything() -> None:
    # Two batches and a smaller one: two modules of one function.
    fit(BATCH, 2 * BATCH + 100, width=512)
    for rows in (200, 300):
        my_step(tf.ones([rows, rows]))
        clustered(tf.ones([rows, rows]))


def main(mode: str, logdir: Path) -> None:
    if mode == "oom":
        fit(batch=16384, examples=16384, width=1024)
        return
    with tf.profiler.experimental.Profile(str(logdir / "profile")):
        everything()
    from oom_forensics import snapshot

    print(snapshot(logdir / "snapshot"))
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
