"""Asks CUDA for memory beside TensorFlow, and prints what it asked for, as JSON.

The records of it go into a trace of TensorFlow's GPU tracer (LOGDIR), or, without one, into the
run of the out-of-memory that ends the script.
"""

import argparse
import ctypes
import json

import tensorflow as tf

MIB = 1 << 20

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--logdir", help="trace into this folder")
options = parser.parse_args()

cuda = ctypes.CDLL("libcudart.so.12")
calls: list[tuple[str, int, int]] = []


def allocate(mib: int) -> ctypes.c_void_p:
    """By cudaMalloc."""
    address = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(mib * MIB)) == 0
    assert address.value is not None
    calls.append(("device_alloc", address.value, mib * MIB))
    return address


def free(address: ctypes.c_void_p) -> None:
    """By cudaFree."""
    assert cuda.cudaFree(address) == 0
    assert address.value is not None
    bytes_of = {at: size for kind, at, size in calls if kind == "device_alloc"}
    calls.append(("device_free", address.value, bytes_of[address.value]))


def run() -> None:
    """Three blocks, one of them at the address of one that was freed, one that is kept."""
    first, second = allocate(8), allocate(16)
    free(first)
    third = allocate(4)
    free(second)
    free(third)
    allocate(2)


# TensorFlow's pool is there before.
with tf.device("GPU:0"):
    tf.zeros([1])
if options.logdir:
    with tf.profiler.experimental.Profile(options.logdir):
        run()
else:
    run()
    try:
        with tf.device("GPU:0"):
            tf.zeros([1 << 30])
    except tf.errors.ResourceExhaustedError:
        pass
print(json.dumps(calls))
