"""The function graphs that TensorFlow traced in this process, and what of them was removed.

A graph knows of each of its operations the stack that made it, with AutoGraph's lines
mapped back to the user's. Nothing is copied while it lives. A function that is removed
(the input pipeline of a `fit` that is over) leaves TensorFlow's own record of its stacks
(a GraphDebugInfo, serialised), as far as there is room.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from oom_forensics.in_training.in_place import call_after, call_before

# All records of removed functions together.
_MOST_REMOVED_BYTES = 16 << 20
# Functions larger than this are not recorded as they go: it would take a tenth of a second.
_MOST_OPERATIONS = 2000


class RemovedFunction(NamedTuple):
    """What is left of a function: its name and a serialised GraphDebugInfo."""

    name: str
    debug_info: bytes


class TracedGraphs:
    """Knows the graphs of this process from the moment it watches."""

    def __init__(self) -> None:
        self._graphs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._made = 0
        self._removed: OrderedDict[str, bytes] = OrderedDict()
        self._removed_bytes = 0
        self._closed = False

    def watch_graphs(self, func_graph: ModuleType) -> None:
        """Remembers, weakly, each graph that `func_graph.FuncGraph` makes."""

        def remember(graph: Any, *_: Any, **__: Any) -> None:
            self._made += 1
            self._graphs[graph] = self._made

        call_after(func_graph.FuncGraph, "__init__", remember)

    def watch_removals(self, context: ModuleType) -> None:
        """Keeps the stacks of functions that `context.Context` removes."""
        call_before(context.Context, "remove_function", self._keep)

    def close(self) -> None:
        """Keeps nothing more: the interpreter ends, and removes everything."""
        self._closed = True

    def alive(self) -> list[Any]:
        """Returns the graphs that are alive, the last made first."""
        # A graph may be collected, or made, by another thread meanwhile.
        for _ in range(3):
            with contextlib.suppress(RuntimeError):
                return sorted(self._graphs, key=self._graphs.__getitem__, reverse=True)
        return []

    def removed(self) -> Iterator[RemovedFunction]:
        """Yields what is left of removed functions, the last removed first."""
        for name, debug_info in reversed(list(self._removed.items())):
            yield RemovedFunction(name, debug_info)

    def _keep(self, context: Any, name: Any) -> None:
        if self._closed:
            return
        text = name.decode() if isinstance(name, bytes) else str(name)
        for graph in self.alive():
            if f"_{graph.name}_" in text and len(graph.get_operations()) > _MOST_OPERATIONS:
                return
        debug_info = context.get_graph_debug_info(name).SerializeToString()
        self._removed[text] = debug_info
        self._removed_bytes += len(debug_info)
        while self._removed_bytes > _MOST_REMOVED_BYTES:
            _, oldest = self._removed.popitem(last=False)
            self._removed_bytes -= len(oldest)
