"""A Keras `fit` whose batch is too large for the device.

The activations of one step alone are more than the pool holds. A smaller batch fits.
"""

from __future__ import annotations

import argparse
import sys

from demos import job

IMAGE_PIXELS = 64
CLASSES = 10


def train(arguments: argparse.Namespace) -> None:
    """Fits a small convolutional classifier."""
    import numpy as np
    import tensorflow as tf

    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input([IMAGE_PIXELS, IMAGE_PIXELS, 3]),
            tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(4),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(CLASSES),
        ]
    )
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    random = np.random.default_rng(1)
    images = random.normal(size=[arguments.examples, IMAGE_PIXELS, IMAGE_PIXELS, 3])
    labels = random.integers(CLASSES, size=[arguments.examples])
    model.fit(
        images.astype(np.float32),
        labels,
        batch_size=arguments.batch_size,
        epochs=1,
        verbose=2,
    )


def main() -> int:
    """Runs the job."""
    parser = job.arguments_parser(__doc__, memory_limit_mib=256)
    parser.add_argument("--examples", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=512, help="remedy: a smaller one")
    arguments = parser.parse_args()
    return job.run(arguments, lambda: train(arguments))


if __name__ == "__main__":
    sys.exit(main())
