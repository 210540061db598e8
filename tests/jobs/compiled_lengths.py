"""Sentences of growing lengths, each length compiled by XLA again."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--same-length", action="store_true", help="pad all to the longest")
parser.add_argument("--no-compile", action="store_true")
options = parser.parse_args()

LENGTHS = (64, 128, 192, 256, 384)
WIDTH = 256

embeddings = tf.random.normal([512, WIDTH])
up = tf.Variable(tf.random.normal([WIDTH, 4 * WIDTH], stddev=0.02))
down = tf.Variable(tf.random.normal([4 * WIDTH, WIDTH], stddev=0.02))


@tf.function(jit_compile=not options.no_compile)
def train_step(tokens):
    with tf.GradientTape() as tape:
        words = tf.gather(embeddings, tokens)
        mixed = tf.nn.gelu(words @ up) @ down
        weights = tf.nn.softmax(tf.matmul(mixed, words, transpose_b=True))
        loss = tf.reduce_mean(tf.square(tf.matmul(weights, words) - mixed))
    for variable, gradient in zip((up, down), tape.gradient(loss, (up, down)), strict=True):
        variable.assign_sub(0.01 * gradient)
    return loss


for length in LENGTHS:
    padded = LENGTHS[-1] if options.same_length else length
    tokens = tf.random.uniform([options.batch_size, padded], 0, 512, tf.int32)
    print("length", length, "loss", float(train_step(tokens)), flush=True)
