"""Runs out of memory as often as asked, eagerly, and goes on. Argument: how often."""

import resource
import signal
import sys

import tensorflow as tf

kept = [tf.zeros([200, 1024, 256]), tf.ones([3])]
if "--file-size-limit" in sys.argv:
    # What a full disk does to write(): it fails halfway.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))
for _ in range(int(sys.argv[1])):
    try:
        tf.zeros([100, 1024, 256])
    except tf.errors.ResourceExhaustedError:
        print("out of memory")
print("went on", float(tf.reduce_sum(kept[1])))
