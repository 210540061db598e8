"""A dataset is known by the size of what it asks for, unless another line's has it too."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops

from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.data_pipelines import DataPipelines

ROWS = tf.zeros([64, 100])
Sizes = dict[int, int]


@pytest.fixture
def pipelines() -> Iterator[DataPipelines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_ops.DatasetV2, "__init__", dataset_ops.DatasetV2.__init__)
        watching = DataPipelines(CodeOrigin(user_paths=__file__.rpartition("/")[0]))
        watching.watch(dataset_ops)
        yield watching


def lines(pipelines: DataPipelines) -> Sizes:
    """Returns the innermost line of this file by size."""
    return {
        size_bytes: next(frame.line for frame in stack if frame.file == __file__)
        for size_bytes, stack in pipelines.sizes()
    }


def here() -> int:
    return sys._getframe(1).f_lineno


def test_a_batch_is_known_by_its_size_in_bytes(pipelines: DataPipelines) -> None:
    rows = tf.data.Dataset.from_tensor_slices(ROWS)
    batches = rows.batch(32)
    assert lines(pipelines) == {32 * 100 * 4: here() - 1}
    assert batches is not None


def test_so_is_each_part_of_an_element(pipelines: DataPipelines) -> None:
    rows = tf.data.Dataset.from_tensor_slices({"x": ROWS, "y": tf.cast(ROWS, tf.float64)})
    batches = rows.batch(16).prefetch(2)
    assert lines(pipelines) == {16 * 100 * 4: here() - 1, 16 * 100 * 8: here() - 1}
    assert batches is not None


def test_what_two_lines_ask_for_alike_is_not_told(pipelines: DataPipelines) -> None:
    rows = tf.data.Dataset.from_tensor_slices(ROWS)
    of_training = rows.batch(32)
    of_evaluation = rows.batch(32)
    assert lines(pipelines) == {}
    assert of_training is not of_evaluation


def test_an_element_of_unknown_shape_has_no_size(pipelines: DataPipelines) -> None:
    rows = tf.data.Dataset.from_tensor_slices(ROWS)
    anything = rows.map(lambda row: tf.py_function(lambda x: x, [row], tf.float32))
    batches = anything.batch(32)
    assert lines(pipelines) == {}
    assert batches is not None


def test_a_dataset_that_is_gone_is_remembered(pipelines: DataPipelines) -> None:
    batches = tf.data.Dataset.from_tensor_slices(ROWS).batch(32)
    made = here() - 1
    del batches
    assert lines(pipelines) == {32 * 100 * 4: made}


def test_but_one_that_is_alive_goes_before_it(pipelines: DataPipelines) -> None:
    gone = tf.data.Dataset.from_tensor_slices(ROWS).batch(32)
    del gone
    batches = tf.data.Dataset.from_tensor_slices(ROWS).batch(32)
    assert lines(pipelines) == {32 * 100 * 4: here() - 1}
    assert batches is not None
