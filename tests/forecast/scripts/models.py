"""Small models of the kinds that people train, each with one batch of data."""

from typing import Any

import keras
import numpy as np

layers = keras.layers
_COMPILED = "compiled_"
_LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def make(name: str, batch: int) -> tuple[Any, Any, Any]:
    """Returns a compiled model, its inputs and its targets."""
    compiled = name.startswith(_COMPILED)
    model, inputs = _MODELS[name.removeprefix(_COMPILED)](batch)
    model.compile("adam", _LOSS, jit_compile=compiled)
    return model, inputs, np.zeros([batch], np.int32)


def _mlp(batch: int) -> Any:
    model = keras.Sequential(
        [
            layers.Input([256]),
            layers.Dense(1024, activation="gelu"),
            layers.Dropout(0.1),
            layers.Dense(1024, activation="relu"),
            layers.Dense(10),
        ]
    )
    return model, np.zeros([batch, 256], np.float32)


def _attention(batch: int) -> Any:
    words = layers.Input([128], dtype="int32")
    x = layers.Embedding(1000, 64)(words)
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(8, 8)(y, y)])
    y = layers.Dense(64)(layers.Dense(256, activation="gelu")(layers.LayerNormalization()(x)))
    x = layers.GlobalAveragePooling1D()(layers.Add()([x, y]))
    return keras.Model(words, layers.Dense(10)(x)), np.zeros([batch, 128], np.int32)


def _lstm(batch: int) -> Any:
    model = keras.Sequential(
        [layers.Input([50, 32]), layers.LSTM(64, return_sequences=True), layers.LSTM(32)]
    )
    model.add(layers.Dense(10))
    return model, np.zeros([batch, 50, 32], np.float32)


def _embedding(batch: int) -> Any:
    model = keras.Sequential(
        [
            layers.Input([20], dtype="int32"),
            layers.Embedding(50_000, 64),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )
    return model, np.zeros([batch, 20], np.int32)


def _cnn(batch: int) -> Any:
    model = keras.Sequential(
        [
            layers.Input([48, 48, 3]),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.Conv2D(16, 3, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )
    return model, np.zeros([batch, 48, 48, 3], np.float32)


_MODELS = {
    "mlp": _mlp,
    "attention": _attention,
    "lstm": _lstm,
    "embedding": _embedding,
    "cnn": _cnn,
}
