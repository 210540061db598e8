"""Records a large trace of real training with TensorFlow's own profiler.

Usage: record_stock_trace.py LOGDIR OPS. The collector is switched off: xprof and
the converter read the same events of TensorFlow's own.
"""

import os
import sys

os.environ.update(
    OOM_FORENSICS="0",
    TF_CPU_ALLOCATOR_USE_BFC="1",
    TF_CPU_BFC_MEM_LIMIT_IN_MB="2048",
    TF_CPP_MIN_LOG_LEVEL="2",
)

import tensorflow as tf


def main(logdir: str, ops: int) -> None:
    """Trains a small model eagerly, so that every op allocates on its own."""
    weights = [tf.Variable(tf.random.normal((64, 64))) for _ in range(4)]
    optimizer = tf.keras.optimizers.Adam()
    batch = tf.random.normal((32, 64))
    done = 0
    step = 0
    with tf.profiler.experimental.Profile(logdir):
        while done < ops:
            with tf.profiler.experimental.Trace("train", step_num=step):
                with tf.GradientTape() as tape:
                    hidden = batch
                    for weight in weights:
                        hidden = tf.nn.relu(tf.matmul(hidden, weight))
                    loss = tf.reduce_mean(tf.square(hidden))
                gradients = tape.gradient(loss, weights)
                optimizer.apply_gradients(zip(gradients, weights, strict=True))
            # Forward, backward and update of four layers, as counted in a trace.
            done += 120
            step += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
