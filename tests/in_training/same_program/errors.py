"""Exceptions: what they say, what they hold, how they travel."""

import pickle
import traceback
from typing import Any

import tensorflow as tf


def fail(function: Any) -> None:
    """Prints all of the error that a function ends in, but for the note on an out-of-memory."""
    local = tf.zeros([2])
    try:
        function()
    except Exception as error:
        print(type(error).__mro__)
        print(str(error).splitlines()[0], len(error.args))
        print(sorted(vars(error).keys() - {"__notes__"}))
        if isinstance(error, tf.errors.OpError):
            # Where exceptions have no notes (Python 3.10), it ends the message.
            message = error.message.partition("\nOOM Forensics: ")[0]
            print(message, error.op, error.node_def, error.error_code)
            again = pickle.loads(pickle.dumps(error))
            print(type(again), again.message == error.message)
        if not isinstance(error, tf.errors.ResourceExhaustedError):
            print(getattr(error, "__notes__", []))
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
        chained = (error.__cause__, error.__context__, error.__suppress_context__)
        print(*(str(each).partition("\nOOM Forensics: ")[0] for each in chained))
    print(local.shape)


@tf.function  # type: ignore[untyped-decorator]
def graph(size: int) -> Any:
    """Asks for too much in a graph."""
    return tf.reduce_sum(tf.random.uniform([size, 1 << 18]))


fail(lambda: tf.zeros([3]) + tf.zeros([4]))
fail(lambda: tf.linalg.matmul(tf.zeros([3, 2]), tf.zeros([4, 2])))
fail(lambda: tf.random.uniform([400, 1 << 18]))
fail(lambda: graph(400))
fail(lambda: tf.errors.raise_exception_on_not_ok_status)
made = tf.errors.ResourceExhaustedError(None, None, "a quota")
print(made, made.args, getattr(made, "__notes__", []))
named = tf.errors.ResourceExhaustedError(node_def=None, op=None, message="a quota")
print(named.message, tf.errors.ResourceExhaustedError(None, None, "x", {"k": b"v"}))
