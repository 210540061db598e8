"""Where references begin: the variables of modules, and the local ones of what is running."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import FrameType, ModuleType
from typing import NamedTuple

from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.frames import Stack, look_at_locals, stack_of

_MOST_FRAMES = 2_000
_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class LocalVariable(NamedTuple):
    """A local variable of a function that is running."""

    name: str
    function: str
    file: str
    line: int
    stack: Stack
    is_user: bool
    """Whether the function is the user's."""

    @property
    def place(self) -> str:
        """Where it is known: "in train (train.py:41)"."""
        return f"in {self.function} ({os.path.basename(self.file)}:{self.line})"


class Roots:
    """The roots of this moment, by the identity of what they refer to."""

    def __init__(self, frame: FrameType | None, origin: CodeOrigin) -> None:
        self.module_names: dict[int, str] = {}
        """Of a module's dict: the module's name."""
        self.user_modules: set[int] = set()
        """Those of the user's own modules."""
        self.origin = origin
        for name, module in list(sys.modules.items()):
            if type(name) is str and type(module) is ModuleType:
                self.module_names.setdefault(id(vars(module)), name)
                file = vars(module).get("__file__")
                if name == "__main__" or (type(file) is str and origin.is_user(file)):
                    self.user_modules.add(id(vars(module)))
        self.locals: dict[int, LocalVariable] = {}
        """Of an object: the local variable that refers to it; of the user's the innermost."""
        for each in running_frames(frame):
            self._add_locals(each, origin)

    def _add_locals(self, frame: FrameType, origin: CodeOrigin) -> None:
        code = frame.f_code
        if not code.co_flags & CO_OPTIMIZED:
            return  # A module's: its variables are in its dict.
        file = code.co_filename
        is_user = origin.is_user(file)
        interesting = []

        def look(names: dict[str, object]) -> None:
            for name, value in names.items():
                known = self.locals.get(id(value))
                if known is None or (is_user and not known.is_user):
                    interesting.append((name, id(value)))

        look_at_locals(frame, look)
        if interesting:
            stack = stack_of(frame, origin)
            for name, key in interesting:
                self.locals[key] = LocalVariable(
                    name, code.co_name, file, frame.f_lineno or 0, stack, is_user
                )


def running_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yields the frames of all threads, those of the caller's thread from `frame` on.

    Frames of this package are left out.
    """
    seen: set[int] = set()
    threads = sys._current_frames()
    # Not this very frame: a variable of it that leads to it is a circle, which holds the other
    # frames and their tensors until Python looks for circles.
    threads[threading.get_ident()] = sys._getframe(1)
    for top in (frame, *threads.values()):
        depth = 0
        while top is not None and depth < _MOST_FRAMES and id(top) not in seen:
            seen.add(id(top))
            if not top.f_code.co_filename.startswith(_OWN_FOLDER):
                yield top
            top = top.f_back
            depth += 1
