"""A search over widths that keeps every trained model to pick the best."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--drop-models", action="store_true")
parser.add_argument("--one-model", action="store_true")
options = parser.parse_args()

random = np.random.default_rng(0)
features = random.normal(size=[512, 256]).astype("float32")
targets = random.normal(size=[512, 1]).astype("float32")


def make_model(rate):
    model = keras.Sequential(
        [
            keras.Input([256]),
            keras.layers.Dense(4096, activation="relu"),
            keras.layers.Dense(512, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(rate), "mse")
    return model


trained = {}
if options.one_model:
    model = make_model(0.1)
    first_weights = model.get_weights()
for rate in (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003):
    if options.one_model:
        model.set_weights(first_weights)
        for slot in model.optimizer.variables[2:]:
            slot.assign(np.zeros(slot.shape, "float32"))
        model.optimizer.learning_rate = rate
    else:
        model = make_model(rate)
    log = model.fit(features, targets, batch_size=128, epochs=2, verbose=0)
    keeps_numbers = options.drop_models or options.one_model
    trained[rate] = log.history["loss"][-1] if keeps_numbers else (model, log)
    if options.drop_models:
        del model
        keras.backend.clear_session()
print(len(trained), "models")
