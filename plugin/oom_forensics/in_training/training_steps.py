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
from oom_forensics.in_training.in_place import in_place_of

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
    trace = module.Trace
    init, enter, leave = trace.__init__, trace.__enter__, trace.__exit__

    @in_place_of(init)
    def init_and_remember(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        # A number only: a tensor would have to be waited for.
        number = kwargs.get("step_num")
        if isinstance(number, numbers.Integral):
            numbered[self] = int(number)

    @in_place_of(enter)
    def enter_and_begin(self: Any) -> Any:
        result = enter(self)
        if self in numbered:
            steps.enter(numbered[self])
        return result

    @in_place_of(leave)
    def end_and_leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        if numbered.pop(self, None) is not None:
            steps.leave()
        return leave(self, *args, **kwargs)

    # One that is never entered is no step.
    numbered: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    trace.__init__, trace.__enter__, trace.__exit__ = (
        init_and_remember,
        enter_and_begin,
        end_and_leave,
    )


def _watch_callbacks(module: ModuleType, steps: TrainingSteps) -> None:
    callbacks = module.CallbackList
    _call_before(callbacks, "on_train_batch_begin", steps.begin_batch)
    for end in ("on_train_end", "on_test_begin", "on_predict_begin"):
        _call_before(callbacks, end, steps.end_batches)


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


def _call_before(owner: type, name: str, action: Callable[[], None]) -> None:
    original = getattr(owner, name)

    @in_place_of(original)
    def call_and_go_on(self: Any, *args: Any, **kwargs: Any) -> Any:
        action()
        return original(self, *args, **kwargs)

    setattr(owner, name, call_and_go_on)
