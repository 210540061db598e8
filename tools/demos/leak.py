"""A training loop that keeps every step's activations "for the plots".

What looks like a number in a list is a tensor, and each one holds its memory. The
use grows by the same bytes at every step, until one step does not fit.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from demos import job

FEATURES = 256
HIDDEN = 2048
CLASSES = 10


def train(arguments: argparse.Namespace) -> None:
    """Trains step by step and keeps a history."""
    import numpy as np
    import tensorflow as tf

    hidden_layers = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(HIDDEN // 4, activation="relu"),
            tf.keras.layers.Dense(HIDDEN, activation="relu"),
        ],
        name="encoder",
    )
    head = tf.keras.layers.Dense(CLASSES, name="head")
    optimizer = tf.keras.optimizers.SGD(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(features: Any, labels: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            hidden = hidden_layers(features, training=True)
            loss = loss_of(labels, head(hidden))
        variables = hidden_layers.trainable_variables + head.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss, hidden

    history = []
    for step in range(arguments.steps):
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            features = tf.random.normal([arguments.batch_size, FEATURES])
            labels = tf.random.uniform([arguments.batch_size], 0, CLASSES, tf.int32)
            loss, hidden = train_step(features, labels)
            if arguments.release:
                history.append(float(np.mean(hidden)))
            else:
                history.append(hidden)
            del hidden
    print(f"{arguments.steps} steps: loss {float(loss):.3f}, {len(history)} kept")


def main() -> int:
    """Runs the job."""
    parser = job.arguments_parser(__doc__, memory_limit_mib=256)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument(
        "--release",
        action="store_true",
        help="remedy: keep a number of each step, not the tensor",
    )
    arguments = parser.parse_args()
    return job.run(arguments, lambda: train(arguments))


if __name__ == "__main__":
    sys.exit(main())
