"""Where each Keras layer, optimizer, loss and metric was made.

In `model.fit(...)` every operation of the graph comes from that one line. What tells them
apart is the layer that an operation belongs to, and where that layer was made: the line
`Conv2D(32, 3)`. Two things are learnt:

- as an object is made: its line (no reference to the object is kept);
- as Keras opens a name scope in a graph: whose scope it is. The operations below it have
  the scope in their names.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from oom_forensics.in_training.in_place import call_after, call_before, in_place_of
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.frames import Stack, local_values, stack_of

# Scopes of all graphs together.
_MOST_SCOPES = 100_000

# What optimizers are derived from, in Keras 3 and in Keras 2.
_OPTIMIZERS = {"BaseOptimizer", "_BaseOptimizer"}


class KerasObject(NamedTuple):
    """An object that operations belong to."""

    text: str
    """Its class and name: "Conv2D conv2d_1"."""
    made_at: Stack
    """Where it was made, innermost first; empty where that is not known."""
    made_by_user: bool
    """Whether the user's own line makes it, not a library on the user's behalf."""
    is_optimizer: bool


class _Made(NamedTuple):
    alive: weakref.ref[Any]
    at: Stack
    by_user: bool


class KerasObjects:
    """Knows the Keras objects of this process from the moment it watches."""

    def __init__(self, origin: CodeOrigin) -> None:
        self._origin = origin
        self._made: dict[int, _Made] = {}
        self._of_graph: weakref.WeakKeyDictionary[Any, dict[str, KerasObject]] = (
            weakref.WeakKeyDictionary()
        )
        self._of_any_graph: dict[str, KerasObject] = {}
        self._scopes = 0

    def watch_operations(self, module: ModuleType) -> None:
        """Learns where each `module.Operation` is made; layers and models are such."""
        operation = module.Operation
        original = operation.__new__

        def new_and_remember(cls: type, *args: Any, **kwargs: Any) -> Any:
            instance = original(cls, *args, **kwargs)
            with contextlib.suppress(Exception):
                self._remember(instance, sys._getframe(1))
            return instance

        operation.__new__ = staticmethod(in_place_of(original)(new_and_remember))

    def watch_class(self, owner: type) -> None:
        """Learns where each object of a class is made: of optimizers, losses, metrics."""

        def remember(made: Any, *_: Any, **__: Any) -> None:
            self._remember(made, sys._getframe(2))

        call_before(owner, "__init__", remember)

    def watch_scopes(self, module: ModuleType) -> None:
        """Learns whose scopes `module.name_scope` opens in graphs."""

        def remember(scope: Any) -> None:
            self._remember_scope(scope, sys._getframe(2))

        call_after(module.name_scope, "__enter__", remember)

    def of_operation(self, name: str, graph: Any | None) -> KerasObject | None:
        """Returns the object whose scope an operation of a graph stands in.

        Of nested scopes it is the innermost whose object the user's own line made, as the
        layers inside a layer of Keras are no line of the user; else the innermost.
        """
        scopes = self._of_graph.get(graph, {}) if graph is not None else {}
        innermost = None
        scope = name
        while "/" in scope:
            scope = scope.rpartition("/")[0]
            found = scopes.get(scope) or self._of_any_graph.get(scope)
            if found is None or not found.made_at:
                continue
            if found.made_by_user:
                return found
            innermost = innermost or found
        return innermost

    def _remember(self, made: Any, frame: FrameType | None) -> None:
        codes = _constructors_of(type(made))
        while frame is not None and frame.f_code in codes:
            frame = frame.f_back
        if frame is None:
            return
        key = id(made)
        by_user = self._origin.is_user(frame.f_code.co_filename)
        made_here = self._made

        def forget(_: weakref.ref[Any]) -> None:
            made_here.pop(key, None)

        made_here[key] = _Made(weakref.ref(made, forget), stack_of(frame, self._origin), by_user)

    def _remember_scope(self, scope: Any, frame: FrameType) -> None:
        caller = scope.caller
        if caller is None and not self._origin.is_user(frame.f_code.co_filename):
            # A loss opens its scope without saying so. Only a library's frame is asked.
            (caller,) = local_values(frame, "self")
        self.add_scope(caller, scope.name)

    def add_scope(self, owner: Any, name: str, below: str | None = None) -> None:
        """Remembers whose scope the graph in hand is in, or, with `below`, will be in.

        `name` is the owner's; `below` the scope that is to be opened in the present one.
        """
        from tensorflow.python.eager import context
        from tensorflow.python.framework import ops

        if context.executing_eagerly() or self._scopes >= _MOST_SCOPES:
            return
        made = self._made.get(id(owner))
        if made is None or made.alive() is not owner:
            return
        graph = ops.get_default_graph()
        path = "/".join(filter(None, (graph.get_name_scope(), below)))
        cls = type(owner)
        is_optimizer = any(base.__name__ in _OPTIMIZERS for base in cls.__mro__)
        found = KerasObject(f"{cls.__name__} {name}", made.at, made.by_user, is_optimizer)
        self._of_graph.setdefault(graph, {})[path] = found
        self._of_any_graph[path] = found
        self._scopes += 1


def _constructors_of(cls: type) -> set[CodeType]:
    """Returns the code of `__new__` and `__init__` of a class and its bases."""
    codes = set()
    for base in cls.__mro__:
        for name in ("__new__", "__init__"):
            function = vars(base).get(name)
            function = getattr(function, "__func__", function)
            while function is not None:
                code = getattr(function, "__code__", None)
                if isinstance(code, CodeType):
                    codes.add(code)
                function = getattr(function, "__wrapped__", None)
    return codes
