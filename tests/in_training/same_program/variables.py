"""Local variables, what `exec` and `locals` keep, and what is alive, around an out-of-memory."""

import gc
import sys
import weakref
from typing import Any

import tensorflow as tf

# While a tensor is alive, what keeps it is looked for in the local variables of each frame.
kept = tf.zeros([1000])


class Held:
    """An object whose end is seen."""


def refuse() -> None:
    """Asks for more than there is, and goes on."""
    try:
        tf.random.uniform([400, 1 << 18])
    except tf.errors.ResourceExhaustedError:
        print("refused")


def with_exec() -> None:
    """Has a variable that only `exec` knows."""
    exec("x = 41")
    refuse()
    try:
        exec("print(x + 1)")
    except NameError:  # From Python 3.13 on, what exec() assigns lasts as long as its call.
        print("forgotten")
    print(sorted(sys._getframe().f_locals))


def with_locals(argument: int) -> None:
    """Keeps what `locals` gave."""
    first = 1
    held = locals()
    held["mine"] = "an entry"
    refuse()
    print(sorted(held), held["mine"], held["first"], argument, first)


def with_held() -> None:
    """Lets go of an object after the out-of-memory."""
    held = Held()
    alive = weakref.ref(held)
    refuse()
    print(sys.getrefcount(held))
    del held
    print(alive() is None)


def with_tensor() -> None:
    """Lets go of a tensor, a variable and a function."""
    tensor, variable = tf.ones([1000]), tf.Variable(tf.ones([1000]))
    function = tf.function(lambda x=tensor: x + 1)
    function()
    alive = [weakref.ref(tensor), weakref.ref(variable), weakref.ref(function)]
    counts = [sys.getrefcount(each) for each in (tensor, variable, function)]
    refuse()
    print([sys.getrefcount(each) for each in (tensor, variable, function)] == counts)
    del tensor, variable, function
    gc.collect()
    print([each() is None for each in alive])


def generate() -> Any:
    """Is suspended while memory is refused."""
    yield from range(3)


class Made:
    """Its body meets an out-of-memory."""

    before = 1
    refuse()
    after = before + 1


generator = generate()
next(generator)
with_exec()
with_locals(5)
with_held()
with_tensor()
print(list(generator), Made.after, sorted(vars(Made).keys() - {"__firstlineno__"}))
