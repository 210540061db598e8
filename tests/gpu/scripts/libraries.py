"""Uses libraries of NVIDIA's that may have no room for their own memory on the device."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "libraries", nargs="+", choices=["cudnn", "cublas", "cufft", "cusolver", "nccl", "copy"]
)
options = parser.parse_args()


def use(library: str) -> None:
    """Runs an op that needs the library."""
    if library == "cudnn":
        tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 3, 8]), 1, "SAME")
    elif library == "cublas":
        tf.matmul(tf.zeros([64, 64]), tf.zeros([64, 64]))
    elif library == "cufft":
        tf.signal.fft(tf.zeros([64], tf.complex64))
    elif library == "cusolver":
        tf.linalg.svd(tf.zeros([16, 16]))
    elif library == "copy":
        tf.identity(np.zeros([1 << 29], "float32"))
    else:
        strategy = tf.distribute.MirroredStrategy()
        strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("sum", tf.zeros([8])))


for library in options.libraries:
    try:
        with tf.device("GPU:0"):
            use(library)
        print(library, "went well")
    except (tf.errors.OpError, RuntimeError) as error:
        print(library, type(error).__name__, str(error)[:400].replace("\n", " "))
        print(getattr(error, "__notes__", []))
