"""Fits a model: python fit.py MODEL BATCH LOGDIR [BATCHES]. Exit code 3: out of memory."""

import sys

import models
import numpy as np
import oom_forensics
import tensorflow as tf

name, batch, logdir = sys.argv[1], int(sys.argv[2]), sys.argv[3]
oom_forensics.configure(logdir=logdir)
model, inputs, targets = models.make(name, batch)
# The last batch is a smaller one: Keras then leaves the batch of its graph open.
inputs, targets = np.concatenate([inputs] * 3)[:-1], np.concatenate([targets] * 3)[:-1]
try:
    model.fit(inputs, targets, batch_size=batch, verbose=0)
except tf.errors.ResourceExhaustedError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
