"""Which step runs is learnt from TensorFlow's own `Trace`, which stays as it is."""

from __future__ import annotations

import inspect

import tensorflow as tf

from oom_forensics.in_training.training_steps import watch_training_steps


def test_a_trace_that_is_never_entered_is_no_step_and_hides_no_later_one() -> None:
    begun: list[int] = []
    watch_training_steps(begun.append)
    trace = tf.profiler.experimental.Trace
    trace("never entered", step_num=7)
    with trace("train", step_num=8):
        pass
    with trace("unnumbered"):
        pass
    with trace("outer", step_num=9), trace("inner", step_num=1):
        pass
    assert begun == [8, -1, 9, -1]


def test_the_class_is_tensorflows_own() -> None:
    from tensorflow.python.profiler.trace import Trace

    assert tf.profiler.experimental.Trace is Trace
    assert inspect.getfullargspec(Trace.__init__).args == ["self", "name"]
