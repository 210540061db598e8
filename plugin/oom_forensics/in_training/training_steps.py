"""Learns from TensorFlow and Keras which training step runs, and tells the collector.

TensorFlow's allocators know runs of functions, not training steps. Who knows them:

- `tf.profiler.experimental.Trace(name, step_num=n)`, TensorFlow's way to name a step,
  which is also how a loop of one's own tells its steps;
- Keras: `fit` begins a batch, `train_on_batch` is one. Keras counts from 0 in every
  epoch; here its batches are counted through the process, so that no two steps have the
  same number.

The outermost one counts: a batch inside a `Trace` is part of that step.
"""

from __future__ import annotations

import numbers
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.in_place import call_after, call_before, in_place_of

_NO_STEP = -1


class TrainingSteps:
    """The steps of this process. `begin` is told a number, or -1 for none."""

    def __init__(self, begin: Callable[[int], None]) -> None:
        self._begin = begin
        self._batches = 0
        self._depth = 0

    def enter(self, number: int) -> None:
        """A step with a number of the user begins."""
        self._depth += 1
        if self._depth == 1:
            self._begin(number)

    def leave(self) -> None:
        """That step ends."""
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            self._begin(_NO_STEP)

    def begin_batch(self) -> None:
        """Keras begins to train on a batch."""
        if self._depth == 0:
            self._begin(self._batches)
        self._batches += 1

    def end_batches(self) -> None:
        """What follows is not training: validation, prediction, the end of `fit`."""
        if self._depth == 0:
            self._begin(_NO_STEP)


def watch_training_steps(begin: Callable[[int], None]) -> None:
    """Has `begin` called with the number of every training step from now on."""
    steps = TrainingSteps(begin)
    when_imported(
        "tensorflow._api.v2.profiler.experimental", lambda module: _watch_trace(module, steps)
    )
    for keras in ("keras.src.callbacks.callback_list", "tf_keras.src.callbacks"):
        when_imported(keras, lambda module: _watch_callbacks(module, steps))
    for keras in ("keras.src.backend.tensorflow.trainer", "tf_keras.src.engine.training"):
        when_imported(keras, lambda module: _watch_trainer(module, steps))


def _watch_trace(module: ModuleType, steps: TrainingSteps) -> None:
    # One that is never entered is no step.
    numbered: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def remember(trace: Any, *_: Any, step_num: Any = None, **__: Any) -> None:
        # A number only: a tensor would have to be waited for.
        if isinstance(step_num, numbers.Integral):
            numbered[trace] = int(step_num)

    def enter(trace: Any) -> None:
        if trace in numbered:
            steps.enter(numbered[trace])

    def leave(trace: Any, *_: Any) -> None:
        if numbered.pop(trace, None) is not None:
            steps.leave()

    call_after(module.Trace, "__init__", remember)
    call_after(module.Trace, "__enter__", enter)
    call_before(module.Trace, "__exit__", leave)


def _watch_callbacks(module: ModuleType, steps: TrainingSteps) -> None:
    callbacks = module.CallbackList
    call_before(callbacks, "on_train_batch_begin", lambda *_, **__: steps.begin_batch())
    for end in ("on_train_end", "on_test_begin", "on_predict_begin"):
        call_before(callbacks, end, lambda *_, **__: steps.end_batches())


def _watch_trainer(module: ModuleType, steps: TrainingSteps) -> None:
    trainer = getattr(module, "TensorFlowTrainer", None) or module.Model
    train = trainer.train_on_batch

    @in_place_of(train)
    def train_on_batch(self: Any, *args: Any, **kwargs: Any) -> Any:
        steps.begin_batch()
        try:
            return train(self, *args, **kwargs)
        finally:
            steps.end_batches()

    trainer.train_on_batch = train_on_batch
