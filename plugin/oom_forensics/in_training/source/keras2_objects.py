"""The same for Keras 2, whose scopes open in other places.

It is `tf_keras` (TF_USE_LEGACY_KERAS=1) or, with TensorFlow 2.15, `keras` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.in_place import call_before
from oom_forensics.in_training.source.keras_objects import KerasObjects

# Imported before the others, and not there in Keras 3, which has modules of their names.
_LAYERS = "src.engine.base_layer"


def watch_keras2(objects: KerasObjects) -> None:
    """Watches layers, models and metrics, optimizers and losses when Keras 2 is imported."""

    def watch_package(package: str) -> Callable[[ModuleType], None]:
        def watch(layers: ModuleType) -> None:
            _watcher(objects, "Layer", "_name_scope")(layers)
            for module, owner, opens in (
                ("src.optimizers.optimizer", "_BaseOptimizer", "apply_gradients"),
                ("src.losses", "Loss", "__call__"),
            ):
                when_imported(f"{package}.{module}", _watcher(objects, owner, opens))

        return watch

    for package in ("tf_keras", "keras"):
        when_imported(f"{package}.{_LAYERS}", watch_package(package))


def _watcher(objects: KerasObjects, owner: str, opens: str) -> Callable[[ModuleType], None]:
    def watch(module: ModuleType) -> None:
        cls = getattr(module, owner)
        objects.watch_class(cls)
        _watch_scopes(objects, cls, opens)

    return watch


def _watch_scopes(objects: KerasObjects, owner: Any, opens: str) -> None:
    """Learns whose scope it is that the method `opens` is about to open."""

    def remember(this: Any, *_: Any, **__: Any) -> None:
        # A loss has the name of its scope beside its own.
        scope = getattr(this, "_name_scope", None)
        name = scope if isinstance(scope, str) else this.name
        objects.add_scope(this, name, name)

    call_before(owner, opens, remember)
