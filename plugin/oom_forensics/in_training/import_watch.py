"""Calls a function with a module as soon as that module is imported."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

_Action = Callable[[ModuleType], None]


def when_imported(name: str, action: _Action) -> None:
    """Calls `action(module)` now if `name` is imported, else right after its import.

    An exception of the action is swallowed: it must not become one of the import.
    """
    module = sys.modules.get(name)
    # A module that is being imported right now has an unfinished spec.
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        _call(action, module)
        return
    for finder in sys.meta_path:
        if isinstance(finder, _Watch):
            finder.actions.setdefault(name, []).append(action)
            return
    sys.meta_path.insert(0, _Watch({name: [action]}))


def _call(action: _Action, module: ModuleType) -> None:
    # The module is imported as it would be without us.
    with contextlib.suppress(Exception):
        action(module)


class _Watch(importlib.abc.MetaPathFinder):
    """Finds the watched modules as Python does, with a loader that calls the actions."""

    def __init__(self, actions: dict[str, list[_Action]]) -> None:
        self.actions = actions

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a watched module; of others None, for the next finder."""
        actions = self.actions.pop(fullname, None)
        if actions is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            execute(module)
            for action in actions:
                _call(action, module)

        spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]
        return spec
