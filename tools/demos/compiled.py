"""A Keras `fit` with `jit_compile=True`, as Keras does by itself where there is a GPU.

XLA asks for one block per step that holds the activations of all layers: too large here.
Nobody profiles: the story is that of the flight recorder.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from demos import job

FEATURES = 128
WIDTH = 512
BLOCKS = 4
CLASSES = 10


def make_model() -> Any:
    """Returns a mixer: a stem, `BLOCKS` residual blocks, a head."""
    import tensorflow as tf

    layers = tf.keras.layers
    inputs = tf.keras.Input([FEATURES], name="features")
    hidden = layers.Dense(WIDTH // 2, activation="relu", name="stem")(inputs)
    for number in range(BLOCKS):
        name = f"mix_{number}"
        inner = layers.Dense(WIDTH, activation="gelu", name=f"{name}_in")(hidden)
        inner = layers.Dense(WIDTH // 2, name=f"{name}_out")(inner)
        hidden = layers.Add(name=f"{name}_add")([hidden, inner])
    return tf.keras.Model(inputs, layers.Dense(CLASSES, name="head")(hidden), name="mixer")


def train(arguments: argparse.Namespace) -> None:
    """Fits the model, compiled by XLA."""
    import numpy as np
    import tensorflow as tf

    model = make_model()
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=True,
    )
    random = np.random.default_rng(1)
    features = random.normal(size=[arguments.examples, FEATURES]).astype(np.float32)
    labels = random.integers(CLASSES, size=[arguments.examples])
    model.fit(features, labels, batch_size=arguments.batch_size, epochs=1, verbose=2)


def main() -> int:
    """Runs the job."""
    parser = job.arguments_parser(__doc__, memory_limit_mib=256)
    parser.add_argument("--examples", type=int, default=32768)
    parser.add_argument("--batch-size", type=int, default=8192, help="remedy: a smaller one")
    arguments = parser.parse_args()
    return job.run(arguments, lambda: train(arguments), profiled=False)


if __name__ == "__main__":
    sys.exit(main())
