"""What the program does that takes memory of the host, told to the black box as it happens.

A process that is killed cannot be asked. What explains its memory must be in its black box by
then (core/black_box.h, Activity):

- a function is traced, and runs for the first time after that;
- a dataset that keeps elements is made (shuffle, cache, prefetch, a parallel map);
- a model or a checkpoint is saved.

Nothing is kept of the objects but weak references. A function or class that is not as expected is
left alone.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.in_place import call_after, in_place_of
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.data_pipelines import constant_of
from oom_forensics.in_training.source.frames import places_of_user, stack_of

_TRACE = 1
_BUFFER = 2
_SAVE = 3
# Of an argument that changes.
_MOST_CHARACTERS = 60
# Nodes of tf.data that keep elements: by which name they are asked for, and what says how many.
_BUFFERS = {
    "ShuffleDataset": ("shuffle", "_buffer_size"),
    "CacheDataset": ("cache", ""),
    "PrefetchDataset": ("prefetch", "_buffer_size"),
    "ParallelMapDataset": ("map", "_num_parallel_calls"),
}
_SAVES = (
    ("keras.src.saving.saving_api", None, "save_model", "Model.save"),
    ("keras.src.saving.saving_api", None, "save_weights", "Model.save_weights"),
    ("tensorflow.python.checkpoint.checkpoint", "Checkpoint", "save", "tf.train.Checkpoint.save"),
    ("tensorflow.python.checkpoint.checkpoint", "Checkpoint", "write", "tf.train.Checkpoint.write"),
    (
        "tensorflow.python.saved_model.save",
        None,
        "save_and_return_nodes",
        "tf.saved_model.save",
    ),
)


def watch_host_activities(library: CollectorLibrary) -> None:
    """Tells the black box of what is traced, buffered and saved from now on."""
    activities = _Activities(library, CodeOrigin.of(EvidenceSettings.now(library)))
    when_imported(
        "tensorflow.python.eager.polymorphic_function.tracing_compilation",
        lambda module: _Traces(activities).watch(module),
    )
    when_imported(
        "tensorflow.python.data.ops.dataset_ops",
        lambda module: _watch_buffers(module, activities),
    )
    for name, owner, function, shown in _SAVES:
        when_imported(
            name,
            lambda module, owner=owner, function=function, shown=shown: _watch_save(  # type: ignore[misc]
                getattr(module, owner) if owner else module, function, shown, activities
            ),
        )


class _Activities:
    def __init__(self, library: CollectorLibrary, origin: CodeOrigin) -> None:
        self._library = library
        self._origin = origin

    def begin(self, kind: int, name: str, frame: FrameType | None) -> int:
        """Says that one begins whose innermost frame this is; returns what ends it."""
        where = places_of_user(stack_of(frame, self._origin))
        return self._library.begin_activity(kind, name, where)

    def end(self, activity: int, live: int = 0, element_bytes: int = 0, what: str = "") -> None:
        self._library.end_activity(activity, live, element_bytes, what)


class _Function:
    """What is known of a traced function of one place of the program."""

    def __init__(self) -> None:
        self.graphs: weakref.WeakSet[Any] = weakref.WeakSet()
        self.type: Any = None
        self.changes: dict[str, list[str]] = {}


class _Trace(NamedTuple):
    function: _Function
    activity: int


class _Called(threading.local):
    """Traces of the call of a function that the thread is in; None: it is in none."""

    traces: list[_Trace] | None = None


_called = _Called()


class _Traces:
    """Functions are known by their name and their code: one made again in a loop is the same."""

    def __init__(self, activities: _Activities) -> None:
        self._activities = activities
        self._functions: dict[tuple[str, str, int], _Function] = {}

    def watch(self, module: ModuleType) -> None:
        create, call = module._create_concrete_function, module.call_function

        @in_place_of(create, in_its_file=True)
        def create_and_tell(function_type: Any, context: Any, graph: Any, options: Any) -> Any:
            trace = None
            with contextlib.suppress(Exception):
                trace = self._begin(function_type, options)
            concrete = None
            try:
                concrete = create(function_type, context, graph, options)
                return concrete
            finally:
                if trace is not None:
                    self._end_after_first_run(trace, concrete)

        @in_place_of(call, in_its_file=True)
        def call_and_tell(*args: Any, **kwargs: Any) -> Any:
            around, _called.traces = _called.traces, []
            try:
                return call(*args, **kwargs)
            finally:
                traces, _called.traces = _called.traces, around
                for trace in traces or ():
                    self._end(trace)

        module._create_concrete_function = create_and_tell  # type: ignore[attr-defined]
        module.call_function = call_and_tell  # type: ignore[attr-defined]

    def _begin(self, function_type: Any, options: Any) -> _Trace:
        function = self._known(options)
        _note_changes(function, function_type)
        # Beyond the function of ours that asks.
        frame = sys._getframe(2)
        return _Trace(function, self._activities.begin(_TRACE, str(options.name), frame))

    def _known(self, options: Any) -> _Function:
        python = options.python_function
        code = getattr(getattr(python, "__wrapped__", python), "__code__", None)
        key = (options.name, getattr(code, "co_filename", ""), getattr(code, "co_firstlineno", 0))
        return self._functions.setdefault(key, _Function())

    def _end_after_first_run(self, trace: _Trace, concrete: Any) -> None:
        """Most of what a graph takes, TensorFlow takes when it is run first."""
        if concrete is not None:
            trace.function.graphs.add(concrete)
        if concrete is None or _called.traces is None:
            self._end(trace)
        else:
            _called.traces.append(trace)

    def _end(self, trace: _Trace) -> None:
        with contextlib.suppress(Exception):
            function = trace.function
            changes = function.changes.items()
            what = "; ".join(f"{name}: {', '.join(values)}" for name, values in changes)
            self._activities.end(trace.activity, len(function.graphs), 0, what)


def _note_changes(function: _Function, function_type: Any) -> None:
    """Keeps the last two values of each parameter whose type is another than last time."""
    before, function.type = function.type, function_type
    if before is None:
        return
    known = before.parameters
    for name, parameter in function_type.parameters.items():
        if name in known and known[name].type_constraint != parameter.type_constraint:
            values = [_shown(known[name]), _shown(parameter)]
            function.changes = {name: values}
            return
    # The same arguments: the function itself is made again and again.
    function.changes = {}


def _shown(parameter: Any) -> str:
    constraint = parameter.type_constraint
    value = getattr(constraint, "value", None)
    text = repr(value) if value is not None else str(getattr(constraint, "shape", constraint))
    return text[:_MOST_CHARACTERS]


def _watch_buffers(module: ModuleType, activities: _Activities) -> None:
    def tell(dataset: Any, *_: Any, **__: Any) -> None:
        name, size = _BUFFERS.get(type(dataset).__name__.lstrip("_"), ("", ""))
        if not name or (name == "cache" and constant_of(getattr(dataset, "_filename", None))):
            return
        # Below 0 (AUTOTUNE): TensorFlow decides.
        elements = int(constant_of(getattr(dataset, size, None)) or 0)
        activity = activities.begin(_BUFFER, name, sys._getframe(2))
        activities.end(activity, max(0, elements), _element_bytes(dataset))

    call_after(module.DatasetV2, "__init__", tell, in_its_file=True)


def _element_bytes(dataset: Any) -> int:
    """Returns what an element takes; 0 where its shape does not tell."""
    from tensorflow.python.framework import tensor
    from tensorflow.python.util import nest

    bytes_ = 0
    for spec in nest.flatten(dataset.element_spec):
        if type(spec) is not tensor.TensorSpec or not spec.shape.is_fully_defined():
            return 0
        bytes_ += spec.shape.num_elements() * spec.dtype.size
    return bytes_


_saving = threading.local()


@contextlib.contextmanager
def _outermost() -> Iterator[bool]:
    """Saves call each other: the one that the user calls counts."""
    depth = getattr(_saving, "depth", 0)
    _saving.depth = depth + 1
    try:
        yield depth == 0
    finally:
        _saving.depth = depth


def _watch_save(owner: Any, name: str, shown: str, activities: _Activities) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    @in_place_of(original, in_its_file=True)
    def save(*args: Any, **kwargs: Any) -> Any:
        with _outermost() as outermost:
            activity = -1
            if outermost:
                with contextlib.suppress(Exception):
                    activity = activities.begin(_SAVE, shown, sys._getframe(1))
            try:
                return original(*args, **kwargs)
            finally:
                activities.end(activity)

    setattr(owner, name, save)
