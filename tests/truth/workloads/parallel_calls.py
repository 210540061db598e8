"""A tf.data pipeline whose calls run in eight threads while the program itself allocates."""

import sys

import oom_forensics
import tensorflow as tf

ELEMENTS = 3000


def example(index: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    pixels = tf.cast(tf.range(200 + index % 7 * 100), tf.float32)
    return tf.pad(pixels * 0.5 + 1.0, [[0, 1000 - tf.size(pixels)]]), index


kept = []
with oom_forensics.record(sys.argv[1]):
    pipeline = tf.data.Dataset.range(ELEMENTS).map(
        example, num_parallel_calls=8, deterministic=False
    )
    for step, (features, _) in enumerate(pipeline.batch(50).prefetch(4)):
        kept.append(tf.reduce_sum(features, axis=1) + float(step))
print(len(kept), "batches")
