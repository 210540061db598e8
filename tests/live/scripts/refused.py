"""Is refused memory twice, for two reasons, and goes on: refused.py."""

import time

import tensorflow as tf

MIB = 1 << 20


def floats(mib: int) -> tf.Tensor:
    """A tensor of so many MiB."""
    return tf.fill([mib * MIB // 4], 1.0)


def is_refused(mib: int) -> bool:
    try:
        floats(mib)
    except tf.errors.ResourceExhaustedError:
        return True
    return False


kept = [floats(4) for _ in range(60)]
# Half of the pool is free, in holes of 4 MiB.
del kept[::2]
print("in pieces:", is_refused(48), flush=True)
print("too much:", is_refused(1024), flush=True)
while True:
    time.sleep(1)
