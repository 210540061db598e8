"""A Keras callback that writes TensorFlow's memory to TensorBoard's scalars, step by step.

    model.fit(..., callbacks=[oom_forensics.keras.MemoryCallback("logs")])

Imported only by who asks for it: it imports Keras.
"""

from __future__ import annotations

import os
from typing import Any

import keras
from tensorboard.summary import Writer

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.recorder import RecorderError

_SCALARS = ("in_use_bytes", "peak_in_use_bytes", "reserved_bytes", "limit_bytes")


class MemoryCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Writes `memory/<allocator>/<measure>` after every `every` batches of training."""

    def __init__(self, logdir: str | os.PathLike[str], *, every: int = 1) -> None:
        """Args: see the class.

        Raises:
          RecorderError: TensorFlow has not loaded the collector.
          ValueError: `every` is not a number of batches.
        """
        super().__init__()
        if every < 1:
            raise ValueError(f"every={every} is not a number of batches")
        library = CollectorLibrary.loaded()
        if library is None or not library.is_active():
            raise RecorderError(
                "TensorFlow has not loaded the collector; `oom-forensics doctor` says why"
            )
        self._library = library
        # TensorBoard's own, not tf.summary's: that would allocate from what it watches.
        self._writer = Writer(os.fspath(logdir))
        self._every = every
        self._step = 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Writes the scalars of this batch."""
        self._step += 1
        if self._step % self._every:
            return
        for allocator in self._library.live_state()["allocators"]:
            for name in _SCALARS:
                if allocator.get(name):
                    tag = f"memory/{allocator['name']}/{name}"
                    self._writer.add_scalar(tag, float(allocator[name]), self._step)

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
        """Has the file hold all that was written."""
        self._writer.flush()
