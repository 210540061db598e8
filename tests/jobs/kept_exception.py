"""Looks for the largest batch by trying; keeps the errors for a table at the end."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=8192, help="the first that is tried")
parser.add_argument("--keep-errors-as-text", action="store_true")
options = parser.parse_args()

weights = [tf.random.normal([1024, 1024], stddev=0.03) for _ in range(6)]


def forward(batch_size):
    kept = []
    x = tf.random.normal([batch_size, 1024])
    for weight in weights:
        x = tf.nn.relu(x @ weight)
        kept.append(x)
    return tf.add_n([tf.reduce_mean(each) for each in kept])


failures = {}
batch_size = options.batch_size
for _ in range(2):
    try:
        forward(batch_size)
        break
    except tf.errors.ResourceExhaustedError as error:
        failures[batch_size] = str(error) if options.keep_errors_as_text else error
        batch_size //= 2
else:
    raise SystemExit(f"no batch fits: {list(failures)}")
print("largest batch", batch_size, "failed before:", list(failures))
