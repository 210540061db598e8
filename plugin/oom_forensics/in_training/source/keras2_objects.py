"""The same for Keras 2 (`tf_keras`, TF_USE_LEGACY_KERAS=1), whose scopes open in other places."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.source.keras_objects import KerasObjects


def watch_keras2(objects: KerasObjects) -> None:
    """Watches layers, models and metrics, optimizers and losses when `tf_keras` is imported."""
    for module, owner, opens in (
        ("tf_keras.src.engine.base_layer", "Layer", "_name_scope"),
        ("tf_keras.src.optimizers.optimizer", "_BaseOptimizer", "apply_gradients"),
        ("tf_keras.src.losses", "Loss", "__call__"),
    ):
        when_imported(module, _watcher(objects, owner, opens))


def _watcher(objects: KerasObjects, owner: str, opens: str) -> Callable[[ModuleType], None]:
    def watch(module: ModuleType) -> None:
        cls = getattr(module, owner)
        objects.watch_class(cls)
        _watch_scopes(objects, cls, opens)

    return watch


def _watch_scopes(objects: KerasObjects, owner: Any, opens: str) -> None:
    """Learns whose scope it is that the method `opens` is about to open."""
    original = getattr(owner, opens)

    @functools.wraps(original)
    def remember_and_open(this: Any, *args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(Exception):
            # A loss has the name of its scope beside its own.
            scope = getattr(this, "_name_scope", None)
            name = scope if isinstance(scope, str) else this.name
            objects.add_scope(this, name, name)
        return original(this, *args, **kwargs)

    setattr(owner, opens, remember_and_open)
