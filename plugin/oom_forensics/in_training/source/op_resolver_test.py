# mypy: disable-error-code="untyped-decorator"
"""A recorded name is found again in the graph that Python traced, whatever was added to it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import func_graph

from oom_forensics.in_training.evidence.trace_file import RecordedOp
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.keras_objects import KerasObjects
from oom_forensics.in_training.source.op_resolver import OpResolver
from oom_forensics.in_training.source.traced_graphs import TracedGraphs


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Iterator[TracedGraphs]:
    monkeypatch.setattr(func_graph.FuncGraph, "__init__", func_graph.FuncGraph.__init__)
    monkeypatch.setattr(context.Context, "remove_function", context.Context.remove_function)
    watched = TracedGraphs()
    watched.watch_graphs(func_graph)
    watched.watch_removals(context)
    yield watched
    watched.close()


def line_of(graphs: TracedGraphs, name: str, shape: str = "", dtype: int = 0) -> int | None:
    """Returns the innermost line of this file that a name is resolved to."""
    # This very file lies in a package.
    origin = CodeOrigin(user_paths=str(Path(__file__).parent))
    resolver = OpResolver(graphs, KerasObjects(origin), origin)
    for _, op in resolver.resolve_all([RecordedOp(name, shape, dtype, False)]):
        return next(frame.line for frame in op.stack if frame.file == __file__)
    return None


def here() -> int:
    return sys._getframe(1).f_lineno


@pytest.mark.parametrize(
    "name",
    [
        "part/Exp",
        "StatefulPartitionedCall/part/Exp",
        "StatefulPartitionedCall/PartitionedCall_1/part/Exp",
        "while/body/_12/part/Exp",
        "ConstantFolding/part/Exp-folded-0",
        "part/Exp-0-TransposeNHWCToNCHW-LayoutOptimizer",
    ],
)
def test_what_tensorflow_adds_to_a_name_is_seen_through(graphs: TracedGraphs, name: str) -> None:
    @tf.function
    def compute(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("part"):
            return tf.exp(x)

    traced = compute.get_concrete_function(tf.zeros([2]))
    assert line_of(graphs, name) == compute.python_function.__code__.co_firstlineno + 3
    del traced


def test_one_word_after_an_unknown_scope_is_not_guessed(graphs: TracedGraphs) -> None:
    traced = tf.function(lambda x: tf.exp(x)).get_concrete_function(tf.zeros([2]))
    assert line_of(graphs, "somebody_else/Exp") is None
    assert line_of(graphs, "StatefulPartitionedCall/Exp") == here() - 2
    del traced


def test_a_gradient_has_the_line_of_what_it_is_the_gradient_of(graphs: TracedGraphs) -> None:
    @tf.function
    def compute(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("part"):
            y = tf.tanh(x)
        return tf.gradients(y, x)[0]

    traced = compute.get_concrete_function(tf.zeros([2]))
    (gradient,) = (op.name for op in traced.graph.get_operations() if op.type == "TanhGrad")
    assert line_of(graphs, gradient) == compute.python_function.__code__.co_firstlineno + 3


def test_of_equal_names_the_one_of_that_shape_is_meant(graphs: TracedGraphs) -> None:
    small = tf.function(lambda x: tf.exp(x)).get_concrete_function(tf.zeros([2]))
    large = tf.function(lambda x: tf.exp(x)).get_concrete_function(tf.zeros([3]))
    assert line_of(graphs, "Exp", "[2]", tf.float32.as_datatype_enum) == here() - 2
    assert line_of(graphs, "Exp", "[3]", tf.float32.as_datatype_enum) == here() - 2
    del small, large


def test_a_function_that_was_removed_is_still_known(graphs: TracedGraphs) -> None:
    def run_and_forget() -> int:
        @tf.function
        def compute(x: tf.Tensor) -> tf.Tensor:
            with tf.name_scope("forgotten"):
                return tf.exp(x)

        compute(tf.zeros([2]))
        return compute.python_function.__code__.co_firstlineno + 3  # type: ignore[no-any-return]

    line = run_and_forget()
    gc.collect()
    assert not [graph for graph in graphs.alive() if graph.name == "compute"]
    assert line_of(graphs, "StatefulPartitionedCall/forgotten/Exp") == line
