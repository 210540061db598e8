"""Makes tensors in many ways and keeps them; `# N` marks the line that makes the one of N numbers.

marked_lines.py LOGDIR
"""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import oom_forensics
import tensorflow as tf

kept = []


def keep(tensor):
    kept.append(tensor)
    return tensor


def plain():
    keep(tf.zeros([1001]))  # 1001


def over_lines():
    keep(
        tf.add(  # 1002
            tf.ones([1002]),
            1.0,
        )
    )


def generator():
    for _ in range(2):
        yield keep(tf.zeros([1003]))  # 1003


async def coroutine():
    await asyncio.sleep(0)
    keep(tf.zeros([1004]))  # 1004


class Model(tf.Module):
    def __call__(self):
        return keep(tf.zeros([1005]))  # 1005


def handler():
    try:
        raise ValueError
    except ValueError:
        keep(tf.zeros([1006]))  # 1006
    finally:
        keep(tf.zeros([1007]))  # 1007


def gradients():
    variable = tf.Variable(tf.ones([1008]))  # 1008
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(variable * variable)
    keep(tape.gradient(loss, variable))


def in_pipeline():
    def mapped(number):
        keep(tf.zeros([1009]))  # 1009
        return number

    data = tf.data.Dataset.range(2).map(lambda n: tf.py_function(mapped, [n], tf.int64))
    list(data)


def recursive(depth):
    if depth:
        return recursive(depth - 1)
    return keep(tf.zeros([1010]))  # 1010


def numpy_array():
    import numpy as np

    keep(tf.constant(np.ones(1011, np.float32)) + 0.0)  # 1011


plain()
over_lines()
list(generator())
asyncio.run(coroutine())
Model()()
handler()
gradients()
in_pipeline()
recursive(40)
numpy_array()
(lambda: keep(tf.zeros([1012])))()  # 1012
[keep(tf.zeros([1013])) for _ in range(3)]  # 1013
with ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda _: keep(tf.zeros([1014])), range(50)))  # 1014
exec("\n\nkeep(tf.zeros([1015]))")
thread = threading.Thread(target=lambda: keep(tf.zeros([1016])))  # 1016
thread.start()
thread.join()
print(oom_forensics.snapshot(sys.argv[1]))


def until_the_end():
    """Allocates while the interpreter takes itself apart."""
    while True:
        tf.zeros([10])


threading.Thread(target=until_the_end, daemon=True).start()
