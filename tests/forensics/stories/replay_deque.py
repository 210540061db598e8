"""A replay buffer that forgets what is old."""

from collections import deque

import tensorflow as tf

replay = deque(maxlen=800)
for _ in range(2000):
    frame = tf.random.uniform([64, 64, 4])
    bright = tf.reduce_mean(frame, axis=[0, 1])
    score = tf.reduce_sum(bright * bright)
    replay.append((frame, score))
