"""A cross-validation that keeps the models of all folds in a list."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--folds", type=int, default=5)
parser.add_argument("--drop-models", action="store_true")
options = parser.parse_args()

random = np.random.default_rng(0)
features = random.normal(size=[256, 1024]).astype("float32")
targets = random.normal(size=[256, 1]).astype("float32")

models = []
scores = []
for fold in range(options.folds):
    model = keras.Sequential(
        [
            keras.Input([1024]),
            keras.layers.Dense(2048, activation="relu"),
            keras.layers.Dense(1024, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    chosen = np.arange(256) % options.folds != fold
    model.fit(features[chosen], targets[chosen], batch_size=64, verbose=0)
    scores.append(model.evaluate(features[~chosen], targets[~chosen], verbose=0))
    if options.drop_models:
        del model
        keras.backend.clear_session()
    else:
        models.append(model)
print("mean score", sum(scores) / len(scores))
