"""Frames: a stack as plain text, and a look at local variables. Neither leaves a reference."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterable
from inspect import CO_OPTIMIZED
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

from oom_forensics.in_training.source.code_origin import CodeOrigin

# Innermost frames of the user that are kept, and of libraries among them.
MOST_USER_FRAMES = 16
_MOST_LIBRARY_FRAMES = 24
# How deep a stack is looked into for them.
_MOST_DEPTH = 400


class Frame(NamedTuple):
    """One call: where it stands."""

    file: str
    line: int
    function: str
    is_user: bool


Stack = tuple[Frame, ...]
"""Frames, innermost first."""


def places_of_user(stack: Stack) -> str:
    """The user's frames as the black box takes them, a line each (core/black_box.h)."""
    return "\n".join(f"u{at.line}\t{at.function}\t{at.file}" for at in stack if at.is_user)


def look_at_locals(frame: FrameType, look: Callable[[dict[str, object]], None]) -> None:
    """Calls `look` with a frame's local variables, and leaves no trace of that.

    Before Python 3.13 `f_locals` makes a dict that stays with the frame: a variable that
    the user deletes would live on in it. The function's variables are taken out of it again,
    unless somebody else has it. A function that may have that dict itself is shown without
    variables: what it has got of them would be changed.
    """
    code = frame.f_code
    is_copy = sys.version_info < (3, 13) and code.co_flags & CO_OPTIMIZED
    if is_copy and _may_have_locals(code):
        look({})
        return
    names = frame.f_locals
    look(dict(names))
    # The dict of a module or a class is no copy. The frame, `names`, getrefcount's argument.
    if is_copy and sys.getrefcount(names) <= 3:
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            names.pop(name, None)


def _may_have_locals(code: CodeType) -> bool:
    """Whether it calls locals() or vars(), or runs code on its variables."""
    return not {"locals", "vars", "eval", "exec"}.isdisjoint(code.co_names) and any(
        each.opname == "LOAD_GLOBAL"
        # vars() of an object has nothing to do with variables.
        and (each.argval in ("locals", "eval", "exec") or (each.argval == "vars" and not then.arg))
        for each, then in pairwise(dis.get_instructions(code))
    )


def local_values(frame: FrameType, *names: str) -> tuple[Any, ...]:
    """Returns the values of some local variables of a frame; None for one that it has not."""
    values: list[Any] = []
    look_at_locals(frame, lambda known: values.extend(known.get(name) for name in names))
    return tuple(values)


def stack_of(frame: FrameType | None, origin: CodeOrigin) -> Stack:
    """Returns the stack of a frame that is on it."""

    def summaries() -> Iterable[tuple[str, int, str]]:
        nonlocal frame
        depth = 0
        while frame is not None and depth < _MOST_DEPTH:
            yield frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name
            frame = frame.f_back
            depth += 1

    return _cut(summaries(), origin)


def stack_of_summaries(summaries: Iterable[Any], origin: CodeOrigin) -> Stack:
    """Returns a stack from TensorFlow's frame summaries, innermost first."""
    return _cut(((each.filename, each.lineno, each.name) for each in summaries), origin)


def _cut(summaries: Iterable[tuple[str, int, str]], origin: CodeOrigin) -> Stack:
    frames: list[Frame] = []
    of_user = of_library = 0
    for file, line, function in summaries:
        if origin.is_user(file):
            frames.append(Frame(file, line, function, True))
            of_user += 1
            if of_user == MOST_USER_FRAMES:
                break
        elif of_library < _MOST_LIBRARY_FRAMES:
            frames.append(Frame(file, line, function, False))
            of_library += 1
    return tuple(frames)


def has_user_frame(stack: Stack) -> bool:
    """Whether any frame of a stack is the user's."""
    return any(frame.is_user for frame in stack)
