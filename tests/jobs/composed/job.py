"""A job put together from parts: a model, where its data comes from, a loop, a way to run it."""

import argparse
from collections import deque

import keras
import numpy as np
import tensorflow as tf
from keras import layers

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--model", default="dense")
parser.add_argument("--data", default="arrays", choices=["arrays", "pipeline", "ahead", "device"])
parser.add_argument(
    "--loop", default="fit", choices=["fit", "batches", "step", "eager", "predict", "evaluate"]
)
parser.add_argument("--mode", default="graph", choices=["graph", "eager", "compiled", "mirrored"])
parser.add_argument("--keep", default="nothing", choices=["nothing", "outputs", "last"])
parser.add_argument("--optimizer", default="adam")
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--depth", type=int, default=3)
parser.add_argument("--length", type=int, default=32)
parser.add_argument("--only-begin", action="store_true", help="run no step")
options = parser.parse_args()

WIDTH, LENGTH = options.width, options.length
BATCHES = 6


def dense():
    yield from (layers.Dense(WIDTH, activation="gelu") for _ in range(options.depth))


def image():
    for level in range(options.depth):
        yield layers.Conv2D(WIDTH // 4 * (level + 1), 3, padding="same", activation="relu")
        yield layers.MaxPooling2D()
    yield layers.Flatten()


def recurrent(kind):
    for level in range(options.depth):
        yield kind(WIDTH, return_sequences=level + 1 < options.depth)


def series():
    for _ in range(options.depth):
        yield layers.Conv1D(WIDTH, 5, padding="same", activation="relu")
        yield layers.BatchNormalization()
    yield layers.GlobalAveragePooling1D()


class Attention(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = layers.MultiHeadAttention(4, max(WIDTH // 4, 1))
        self.norm = layers.LayerNormalization()

    def call(self, x):
        return self.norm(x + self.attention(x, x))


def attention():
    yield layers.Dense(WIDTH)
    yield from (Attention() for _ in range(options.depth))
    yield layers.GlobalAveragePooling1D()


def tokens():
    yield layers.Embedding(4000, WIDTH)
    yield from (layers.Conv1D(WIDTH, 3, activation="relu") for _ in range(options.depth))
    yield layers.GlobalMaxPooling1D()


# A model's layers, and the shape of one example.
MODELS = {
    "dense": (dense, [LENGTH * 4]),
    "image": (image, [LENGTH, LENGTH, 3]),
    "lstm": (lambda: recurrent(layers.LSTM), [LENGTH, 16]),
    "gru": (lambda: recurrent(layers.GRU), [LENGTH, 16]),
    "series": (series, [LENGTH * 4, 8]),
    "attention": (attention, [LENGTH, 16]),
    "tokens": (tokens, [LENGTH * 2]),
}
make_layers, shape = MODELS[options.model]
strategy = tf.distribute.get_strategy()
if options.mode == "mirrored":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

with strategy.scope():
    dtype = "int32" if options.model == "tokens" else "float32"
    model = keras.Sequential([keras.Input(shape, dtype=dtype), *make_layers(), layers.Dense(1)])
    model.compile(
        options.optimizer,
        "mse",
        run_eagerly=options.mode == "eager",
        jit_compile=options.mode == "compiled",
    )

random = np.random.default_rng(0)
count = options.batch_size * BATCHES
x = random.normal(size=[count, *shape]).astype("float32")
if options.model == "tokens":
    x = random.integers(4000, size=[count, *shape]).astype("int32")
y = random.normal(size=[count, 1]).astype("float32")


def batches():
    if options.data == "arrays":
        for begin in range(0, count, options.batch_size):
            yield tuple(tf.constant(a[begin : begin + options.batch_size]) for a in (x, y))
        return
    if options.data == "device":
        whole = tf.constant(x), tf.constant(y)
        for begin in range(0, count, options.batch_size):
            yield tuple(a[begin : begin + options.batch_size] for a in whole)
        return
    yield from pipeline()


def pipeline():
    examples = tf.data.Dataset.from_tensor_slices((x, y))
    if options.data == "ahead":
        return examples.map(lambda a, b: (a, b * 2)).batch(options.batch_size).prefetch(2)
    return examples.shuffle(64).batch(options.batch_size)


def step(inputs, targets):
    with tf.GradientTape() as tape:
        output = model(inputs, training=True)
        loss = tf.reduce_mean(tf.square(output - targets))
    variables = model.trainable_variables
    model.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


kept = deque(maxlen=3) if options.keep == "last" else []
if options.only_begin:
    print("begun with", model.count_params(), "weights and", pipeline().element_spec)
elif options.loop == "fit":
    given = (x, y) if options.data in ("arrays", "device") else (pipeline(),)
    batch_size = {"batch_size": options.batch_size} if len(given) == 2 else {}
    model.fit(*given, **batch_size, epochs=2, verbose=0)
elif options.loop == "predict":
    model.predict(x, batch_size=options.batch_size, verbose=0)
elif options.loop == "evaluate":
    model.evaluate(x, y, batch_size=options.batch_size, verbose=0)
else:
    inner = {"batches": model.train_on_batch, "eager": step}.get(options.loop) or tf.function(
        step, jit_compile=options.mode == "compiled"
    )
    for _ in range(4 if options.keep == "nothing" else 40):
        for inputs, targets in batches():
            inner(inputs, targets)
            if options.keep != "nothing":
                kept.append(model.layers[0](inputs))
