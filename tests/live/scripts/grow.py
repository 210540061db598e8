"""Trains and keeps a list that grows: grow.py STEPS SECONDS_A_STEP."""

import sys
import time

import tensorflow as tf

steps, pause_s = int(sys.argv[1]), float(sys.argv[2])
weights = tf.Variable(tf.zeros([256, 1024]))
kept = []
for step in range(steps):
    with tf.profiler.experimental.Trace("train", step_num=step):
        kept.append(weights + float(step))
        time.sleep(pause_s)
    print("step", step, flush=True)
