"""Every allocator of the CPU is told apart, with its sizes: the pools and plain malloc."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts/allocators.py"
TENSORS = 10
TENSOR_BYTES = 4 << 20


def states(run_python: RunPython, **environment: str) -> list[dict[str, dict[str, Any]]]:
    """The allocators by name: with the tensors live, and after them."""
    done = run_python(SCRIPT, **environment)
    assert done.returncode == 0, done.stderr
    both = json.loads(done.stdout.splitlines()[-1])
    return [{state["name"]: state for state in moment} for moment in both]


# What TensorFlow allocates tensors of the CPU with, by its own settings.
@pytest.mark.parametrize(
    ("use_bfc", "use_onednn", "name", "kind"),
    [
        ("", "0", "cpu#0", "cpu"),
        # Without AVX-512 VNNI there is no oneDNN allocator, so that it is asked for here.
        ("", "1", "mklcpu#0", "bfc"),
        ("1", "0", "bfc_cpu_allocator_for_gpu#0", "bfc"),
    ],
    ids=["malloc", "onednn", "bfc"],
)
def test_the_allocator_of_the_cpu_is_named_and_measured(
    run_python: RunPython, use_bfc: str, use_onednn: str, name: str, kind: str
) -> None:
    live, after = states(
        run_python, TF_CPU_ALLOCATOR_USE_BFC=use_bfc, TF_ENABLE_ONEDNN_OPTS=use_onednn
    )
    assert live[name]["kind"] == kind
    assert live[name]["device"] == "/device:CPU:0"
    assert live[name]["allocations"] >= TENSORS
    # malloc rounds up to pages.
    slack = TENSORS * 8192
    used = live[name]["in_use_bytes"] - after[name]["in_use_bytes"]
    assert TENSORS * TENSOR_BYTES <= used <= TENSORS * TENSOR_BYTES + slack
    assert after[name]["peak_in_use_bytes"] >= live[name]["in_use_bytes"]
    assert TENSOR_BYTES <= live[name]["largest_allocation_bytes"] <= TENSOR_BYTES + 8192


def test_switched_off_nothing_is_counted_and_on_again_it_is(run_python: RunPython) -> None:
    done = run_python(SCRIPT.with_name("switched_off_and_on.py"), TF_CPU_ALLOCATOR_USE_BFC="")
    assert done.returncode == 0, done.stderr
    states = json.loads(done.stdout.splitlines()[-1])

    def grown(name: str, since: str, field: str) -> int:
        return int(states[name][field]) - int(states[since][field])

    pages = TENSORS * 8192
    all_bytes = TENSORS * TENSOR_BYTES
    assert all_bytes <= grown("on", "kept", "in_use_bytes") <= all_bytes + pages
    # The two that were kept, and nothing of the ten.
    assert states["off"] == states["before again"]
    assert abs(grown("off", "kept", "in_use_bytes")) <= pages
    assert grown("on again", "before again", "allocations") >= TENSORS
    assert all_bytes <= grown("on again", "before again", "in_use_bytes") <= all_bytes + pages
    assert abs(grown("after", "before again", "in_use_bytes")) <= pages
