"""The training step that benchmarks time."""

from __future__ import annotations

from collections.abc import Callable


def training_job(steps: int) -> Callable[[], None]:
    """Returns a job of Keras training steps of a small convolutional network."""
    # The settings of a way have to be in the environment before this import.
    import numpy as np
    import tensorflow as tf

    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((32, 32, 3)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    rng = np.random.default_rng(0)
    images = rng.random((32, 32, 32, 3), np.float32)
    labels = rng.integers(0, 10, 32)

    def run() -> None:
        for _ in range(steps):
            model.train_on_batch(images, labels)

    return run
