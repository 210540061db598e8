"""The scratch of a convolution's gradients on a CPU.

TensorFlow's own kernels (tensorflow/core/kernels/conv_grad_*_ops*, without oneDNN) lay the
patches of as many images side by side as fill the processor's cache, however many images
the batch has. Those of volumes take none (seen in 2.21).
"""

from __future__ import annotations

import functools
import math
import os

from oom_forensics.in_training.step_forecast.graph_nodes import Node
from oom_forensics.in_training.step_forecast.tensors import (
    ELEMENT_BYTES,
    Shape,
    Tensor,
    elements_of,
)

_CACHE_BYTES = 30 << 20
_THREAD_CACHE_BYTES = 256 << 10
# Index of the input that is the filter (or its shape), and of the gradient that comes in.
_FILTER = 1
_GRADIENT = 2


def conv_scratch(
    node: Node, inputs: list[Tensor], outputs: list[Tensor]
) -> list[tuple[int, Shape]]:
    """Returns dtype and shape of what the kernel takes while it runs; mostly nothing."""
    to_filter = node.op.startswith("Conv2DBackpropFilter")
    to_input = node.op.startswith("Conv2DBackpropInput")
    if not (to_filter or to_input) or len(inputs) <= _GRADIENT:
        return []
    if not has_own_kernels():
        return []
    gradient = inputs[_GRADIENT]
    filter_shape = outputs[0].shape if to_filter else inputs[_FILTER].shape
    if gradient.shape is None or filter_shape is None or len(gradient.shape) < 4:
        return []
    patch = elements_of(filter_shape[:-1])
    image = elements_of(gradient.shape[1:-1])
    depth, batch = filter_shape[-1], gradient.shape[0]
    if patch is None or image is None or depth is None or batch is None:
        return []
    work = image * patch + patch * depth + image * depth
    if work == 0:
        return []
    element_bytes = ELEMENT_BYTES.get(gradient.dtype, 4)
    images = math.ceil(_CACHE_BYTES / element_bytes / work)
    of_one_thread = work // _threads()
    large = of_one_thread >= _THREAD_CACHE_BYTES // element_bytes
    if to_input and (batch == 1 or large):
        # The threads then share one product instead of one image each.
        images = 1
    return [(gradient.dtype, (images, image, patch))]


@functools.cache
def _threads() -> int:
    import tensorflow as tf

    return int(tf.config.threading.get_intra_op_parallelism_threads()) or os.cpu_count() or 1


@functools.cache
def has_own_kernels() -> bool:
    """Whether convolutions are TensorFlow's own for a CPU, not oneDNN's or a GPU's."""
    import tensorflow as tf
    from tensorflow.python.util import _pywrap_util_port

    if tf.config.list_logical_devices("GPU"):
        return False
    enabled = getattr(_pywrap_util_port, "IsMklEnabled", None)
    return enabled is None or not enabled()
