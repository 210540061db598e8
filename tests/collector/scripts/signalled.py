"""Sends itself SIGUSR2 and waits for a run in the folder of the argument."""

import os
import pathlib
import signal
import sys
import time

import tensorflow as tf

kept = tf.zeros([100, 100])
os.kill(os.getpid(), signal.SIGUSR2)
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    if list(pathlib.Path(sys.argv[1]).rglob("*.xplane.pb")):
        break
    time.sleep(0.05)
print("went on", kept.shape)
