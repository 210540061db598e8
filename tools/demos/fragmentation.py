"""A classifier that keeps a little of every batch, until no large hole is left.

The images of an epoch are loaded first, each batch with the weights of its samples.
The images are dropped after use, the weights are kept for the next epoch. They lie
between the images, so most of the memory is free afterwards, but in small pieces.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from demos import job

IMAGE_PIXELS = 64
MASK_PIXELS = 48
CLASSES = 10


def train(arguments: argparse.Namespace) -> None:
    """Trains small batches for an epoch, then goes on with a larger batch."""
    import numpy as np
    import tensorflow as tf

    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(4),
            tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(CLASSES),
        ]
    )
    optimizer = tf.keras.optimizers.Adam()
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def load_batch(size: int) -> tuple[Any, Any, Any]:
        images = tf.random.normal([size, IMAGE_PIXELS, IMAGE_PIXELS, 3])
        weights = tf.random.uniform([size, MASK_PIXELS, MASK_PIXELS])
        labels = tf.random.uniform([size], maxval=CLASSES, dtype=tf.int32)
        return images, labels, weights

    @tf.function(reduce_retracing=True)  # type: ignore[untyped-decorator]
    def train_step(images: Any, labels: Any, weights: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = loss_of(labels, model(images, training=True))
            loss = tf.reduce_mean(losses * tf.reduce_mean(weights, axis=[1, 2]))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    step = 0
    kept_weights = []
    epoch = [load_batch(arguments.small_batch_size) for _ in range(arguments.batches)]
    while epoch:
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            images, labels, weights = epoch.pop()
            loss = train_step(images, labels, weights)
            kept = np.array(weights) if arguments.keep_on_host else weights
            kept_weights.append(kept)
            del images, labels, weights, kept
        step += 1
    print(f"epoch of {step} small batches: loss {float(loss):.3f}")
    for _ in range(arguments.large_batches):
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            loss = train_step(*load_batch(arguments.batch_size))
        step += 1
    print(f"{arguments.large_batches} large batches: loss {float(loss):.3f}")


def main() -> int:
    """Runs the job."""
    parser = job.arguments_parser(__doc__, memory_limit_mib=256)
    parser.add_argument("--batches", type=int, default=110)
    parser.add_argument("--small-batch-size", type=int, default=32)
    parser.add_argument("--large-batches", type=int, default=3)
    parser.add_argument(
        "--batch-size",
        type=int,
        default=256,
        help="of the second epoch; a small one fits into the holes",
    )
    parser.add_argument(
        "--keep-on-host",
        action="store_true",
        help="remedy: keep the weights outside TensorFlow's memory",
    )
    arguments = parser.parse_args()
    return job.run(arguments, lambda: train(arguments))


if __name__ == "__main__":
    sys.exit(main())
