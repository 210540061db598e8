"""A cross-validation that keeps the models of all folds in a list."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--folds", type=int, default=5)
parser.add_argument("--drop-models", action="store_true")
parser.add_argument("--one-model", action="store_true")
options = parser.parse_args()

random = np.random.default_rng(0)
features = random.normal(size=[256, 1024]).astype("float32")
targets = random.normal(size=[256, 1]).astype("float32")


def make_model():
    model = keras.Sequential(
        [
            keras.Input([1024]),
            keras.layers.Dense(2048, activation="relu"),
            keras.layers.Dense(1024, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    return model


models = []
scores = []
if options.one_model:
    model = make_model()
    first_weights = model.get_weights()
for fold in range(options.folds):
    if options.one_model:
        model.set_weights(first_weights)
        for slot in model.optimizer.variables[2:]:
            slot.assign(np.zeros(slot.shape, "float32"))
    else:
        model = make_model()
    chosen = np.arange(256) % options.folds != fold
    model.fit(features[chosen], targets[chosen], batch_size=64, verbose=0)
    scores.append(model.evaluate(features[~chosen], targets[~chosen], verbose=0))
    if options.drop_models:
        del model
        keras.backend.clear_session()
    elif not options.one_model:
        models.append(model)
print("mean score", sum(scores) / len(scores))
