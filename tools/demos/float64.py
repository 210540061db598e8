"""A model that computes in float64, because its NumPy inputs are float64.

Weights, gradients and Adam's two slots take twice the memory that they need.
"""

from __future__ import annotations

import argparse
import sys

from demos import job

FEATURES = 2048
CLASSES = 10


def train(arguments: argparse.Namespace) -> None:
    """Fits a wide network in the precision asked for."""
    import numpy as np
    import tensorflow as tf

    tf.keras.backend.set_floatx(arguments.dtype)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input([FEATURES]),
            tf.keras.layers.Dense(FEATURES, activation="relu"),
            tf.keras.layers.Dense(FEATURES, activation="relu"),
            tf.keras.layers.Dense(CLASSES),
        ]
    )
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    random = np.random.default_rng(1)
    examples = 4 * arguments.batch_size
    features = random.normal(size=[examples, FEATURES]).astype(arguments.dtype)
    labels = random.integers(CLASSES, size=[examples])
    model.fit(features, labels, batch_size=arguments.batch_size, epochs=1, verbose=2)


def main() -> int:
    """Runs the job."""
    parser = job.arguments_parser(__doc__, memory_limit_mib=256)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument(
        "--dtype",
        choices=["float64", "float32"],
        default="float64",
        help="remedy: float32",
    )
    arguments = parser.parse_args()
    return job.run(arguments, lambda: train(arguments))


if __name__ == "__main__":
    sys.exit(main())
