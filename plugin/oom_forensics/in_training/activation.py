"""What the collector does in Python, in a process that has imported TensorFlow.

The collector imports this module by itself when TensorFlow has loaded it; a user never
does. It does eight things, most of them by wrapping functions of TensorFlow and Keras:

- It learns the logdir of profiler sessions and TensorBoard callbacks. A profiler
  plugin is never told where a session writes to, and the report of an out-of-memory
  belongs beside the user's other data.
- It adds the summary of an out-of-memory to the `ResourceExhaustedError` that the
  user sees (a note, PEP 678; on Python 3.10 the end of its message), and to an error in
  which a library had no memory what it hides.
- It adds to each run what only Python knows (`oom_forensics.in_training.evidence`).
- It lets the collector take the stacks of eager allocations
  (`oom_forensics.in_training.stacks`).
- It learns which training step runs (`oom_forensics.in_training.training_steps`).
- It tells the black box what is traced, buffered and saved
  (`oom_forensics.in_training.host_activities`).
- It tells the black box who holds arrays and tensors while memory gets short
  (`oom_forensics.in_training.host_shortage`).
- It makes runs of the black boxes of earlier processes (`oom_forensics.logdir.black_boxes`).

A function that is not as expected is left alone.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.moments import (
    add_to_written_runs,
    watch_exit,
    watch_sessions,
)
from oom_forensics.in_training.evidence.out_of_memory import watch_out_of_memories
from oom_forensics.in_training.host_activities import watch_host_activities
from oom_forensics.in_training.host_shortage import watch_host_shortage
from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.in_place import call_after, call_before
from oom_forensics.in_training.keepers.keeper_provider import watch_keepers
from oom_forensics.in_training.rehearsal import begin_if_asked
from oom_forensics.in_training.source.line_provider import watch_source_lines
from oom_forensics.in_training.stacks import watch_stacks
from oom_forensics.in_training.step_forecast import at_out_of_memory
from oom_forensics.in_training.training_steps import watch_training_steps
from oom_forensics.logdir.black_boxes import recover_at_start

_KERAS_CALLBACKS = (
    "keras.src.callbacks.tensorboard",
    "keras.src.callbacks",
    "tf_keras.src.callbacks",
)


def activate(library: CollectorLibrary) -> None:
    """Wraps what is imported already, and Keras when it will be."""
    for name in _KERAS_CALLBACKS:
        when_imported(name, lambda module: _watch_callback(module, library))
    watch_training_steps(begin_if_asked(library, lambda step: _begin_step(library, step)))
    watch_stacks(library)
    when_imported(
        "tensorflow.python.profiler.internal._pywrap_profiler",
        lambda module: watch_sessions(module, library),
    )
    when_imported(
        "tensorflow.python.framework.errors_impl",
        lambda module: _watch_errors(module, library),
    )
    watch_source_lines(library)
    watch_keepers(library)
    watch_exit(library)
    at_out_of_memory.register(library)
    watch_out_of_memories(library)
    watch_host_activities(library)
    watch_host_shortage(library)
    recover_at_start()


def _begin_step(library: CollectorLibrary, step: int) -> None:
    if library.begin_step(step):
        add_to_written_runs(library)


def _watch_callback(module: ModuleType, library: CollectorLibrary) -> None:
    callback = getattr(module, "TensorBoard", None)
    set_model = getattr(callback, "set_model", None)
    # A package may show a class whose own module is watched too.
    if callback is None or set_model is None or hasattr(set_model, "_oom_forensics"):
        return

    def learn(callback: Any, *_: Any, **__: Any) -> None:
        library.learn_logdir(str(getattr(callback, "log_dir", "")))

    call_before(callback, "set_model", learn)
    callback.set_model._oom_forensics = True


def _watch_errors(module: ModuleType, library: CollectorLibrary) -> None:
    error = getattr(module, "ResourceExhaustedError", None)
    if error is None:
        return

    def annotate(error: Any, _node_def: Any, _op: Any, message: Any, *_: Any) -> None:
        # The same class tells of quotas and full disks.
        if "OOM" in str(message):
            add_to_written_runs(library)
            summary = library.summary_for(str(message))
            if summary:
                _add_note(error, "OOM Forensics: " + summary)

    call_after(error, "__init__", annotate)
    _watch_library_failures(module, library)


def _watch_library_failures(module: ModuleType, library: CollectorLibrary) -> None:
    """Errors in which cuDNN, cuBLAS or the like had no memory, and which do not say so."""
    base = getattr(module, "OpError", None)
    if base is None:
        return
    # They come at the end of each data set.
    ordinary = (getattr(module, "OutOfRangeError", ()), getattr(module, "CancelledError", ()))

    def explain(error: Any, _node_def: Any, _op: Any, message: Any, *_: Any) -> None:
        if isinstance(error, ordinary):
            return
        story = library.library_failure(str(message))
        if story:
            add_to_written_runs(library)
            _add_note(error, "OOM Forensics: " + story)

    call_after(base, "__init__", explain)


def _add_note(error: Any, note: str) -> None:
    """Adds a note to an error as it is shown; Python 3.10 has none, there it ends the message."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    # An error that was pickled is made again from its message.
    elif note not in str(error._message):
        error._message = f"{error._message}\n{note}"


_loaded = CollectorLibrary.loaded()
if _loaded is not None:
    activate(_loaded)
