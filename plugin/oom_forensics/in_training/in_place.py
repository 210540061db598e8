"""Functions of ours instead of others, so that a program that looks at them sees no change.

`functools.wraps` alone does not do: `inspect.getfullargspec`, which Keras and TensorFlow ask
for the parameters of constructors, does not follow it. An object of `wrapt` has the right
parameters, but is no function: a bound method of it can be neither pickled nor copied.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def in_place_of(
    original: Callable[..., Any], *, in_its_file: bool = False
) -> Callable[[_Function], _Function]:
    """Gives a function the name, the texts and the parameters of `original`, which it calls.

    With `in_its_file` its frames are of the file of `original`, too: an operation that is made
    within it bears the stack of its making, and TensorFlow's errors leave out its own files alone.
    """

    def dress(function: _Function) -> _Function:
        functools.update_wrapper(function, original)
        code = getattr(original, "__code__", None)
        if in_its_file and code is not None:
            function.__code__ = function.__code__.replace(
                co_filename=code.co_filename,
                co_firstlineno=code.co_firstlineno,
                co_name=code.co_name,
            )
        # Functions of C have none to tell.
        with contextlib.suppress(TypeError, ValueError):
            function.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return function

    return dress


def call_before(owner: Any, name: str, action: Callable[..., object]) -> None:
    """Has `action` called with the arguments of `owner.name` before each call of that.

    What it raises is swallowed: it must not become an error of the program.
    """
    original = getattr(owner, name)

    @in_place_of(original)
    def act_and_call(*args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(Exception):
            action(*args, **kwargs)
        return original(*args, **kwargs)

    setattr(owner, name, act_and_call)


def call_after(
    owner: Any, name: str, action: Callable[..., object], *, in_its_file: bool = False
) -> None:
    """Has `action` called with the arguments of `owner.name` after each call that succeeds.

    What it raises is swallowed: it must not become an error of the program.
    """
    original = getattr(owner, name)

    @in_place_of(original, in_its_file=in_its_file)
    def call_and_act(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        with contextlib.suppress(Exception):
            action(*args, **kwargs)
        return result

    setattr(owner, name, call_and_act)
