"""A step that multiplies by a large constant runs out of memory."""

import numpy as np
import tensorflow as tf

secret = np.full([1024, 1024], 2.5, np.float32)


@tf.function
def step(rows: tf.Tensor) -> tf.Tensor:
    """Needs four times its rows."""
    hidden = tf.nn.relu(tf.matmul(rows, tf.constant(secret)))
    return tf.reduce_sum(tf.nn.softmax(hidden) * hidden)


try:
    step(tf.zeros([8192, 1024]))
except tf.errors.ResourceExhaustedError:
    print("refused")
