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

import functools
import numbers
from collections.abc import Callable
from types import ModuleType
from typing import Any

from oom_forensics.in_training.import_watch import when_imported

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
        self._depth -= 1
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
    original = module.Trace

    class Trace(original):  # type: ignore[misc, valid-type]
        __doc__ = original.__doc__

        def __init__(self, name: str, **kwargs: Any) -> None:
            super().__init__(name, **kwargs)
            # A number only: a tensor would have to be waited for.
            number = kwargs.get("step_num")
            self._oom_forensics_step = isinstance(number, numbers.Integral)
            if isinstance(number, numbers.Integral):
                steps.enter(int(number))

        def __exit__(self, *exception: Any) -> Any:
            if self._oom_forensics_step:
                self._oom_forensics_step = False
                steps.leave()
            return super().__exit__(*exception)

    Trace.__module__ = original.__module__
    Trace.__qualname__ = original.__qualname__
    module.Trace = Trace  # type: ignore[attr-defined]


def _watch_callbacks(module: ModuleType, steps: TrainingSteps) -> None:
    callbacks = module.CallbackList
    _call_before(callbacks, "on_train_batch_begin", steps.begin_batch)
    for end in ("on_train_end", "on_test_begin", "on_predict_begin"):
        _call_before(callbacks, end, steps.end_batches)


def _watch_trainer(module: ModuleType, steps: TrainingSteps) -> None:
    trainer = getattr(module, "TensorFlowTrainer", None) or module.Model
    train = trainer.train_on_batch

    @functools.wraps(train)
    def train_on_batch(self: Any, *args: Any, **kwargs: Any) -> Any:
        steps.begin_batch()
        try:
            return train(self, *args, **kwargs)
        finally:
            steps.end_batches()

    trainer.train_on_batch = train_on_batch


def _call_before(owner: type, name: str, action: Callable[[], None]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def call_and_go_on(self: Any, *args: Any, **kwargs: Any) -> Any:
        action()
        return original(self, *args, **kwargs)

    setattr(owner, name, call_and_go_on)
