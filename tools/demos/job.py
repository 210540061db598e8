"""What all demo jobs share: the memory limit, the profiler, the exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

EXIT_OUT_OF_MEMORY = 3


def arguments_parser(description: str | None, memory_limit_mib: int) -> argparse.ArgumentParser:
    """Returns a parser with the options that every job has."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--logdir", type=Path, required=True, help="for the trace")
    parser.add_argument(
        "--memory-limit-mib",
        type=int,
        default=memory_limit_mib,
        help="size of the pool that TensorFlow allocates tensors from",
    )
    return parser


def run(arguments: argparse.Namespace, train: Callable[[], None], *, profiled: bool = True) -> int:
    """Trains in limited memory, under the profiler or not; returns the exit code.

    `train` imports TensorFlow itself, because the limit has to be set before.
    """
    os.environ["OOM_FORENSICS_LOGDIR"] = str(arguments.logdir)
    # TensorFlow's own switches: allocate on the CPU as on a GPU, from a BFC pool.
    os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
    os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = str(arguments.memory_limit_mib)
    # With oneDNN a convolution that gets no memory ends the process without an error.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import tensorflow as tf

    tf.keras.utils.set_random_seed(1)
    profile = tf.profiler.experimental.Profile(str(arguments.logdir))
    try:
        with profile if profiled else contextlib.nullcontext():
            train()
    except tf.errors.ResourceExhaustedError as error:
        lines = str(error).splitlines()
        said = ("OOM when", "Out of memory")
        line = next((line for line in lines if any(text in line for text in said)), lines[0])
        print(line, file=sys.stderr)
        print(f"Out of memory. The trace is in {arguments.logdir}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        # Not by returning: after an out-of-memory in XLA TensorFlow may abort when it frees
        # the arguments that it had given away (`Check failed` in BFCAllocator).
        os._exit(EXIT_OUT_OF_MEMORY)
    print("Trained to the end.")
    return 0
