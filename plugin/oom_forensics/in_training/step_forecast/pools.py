"""Which of a process's pools a step's ops ask for memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def serves_steps(allocator: str, pools: Sequence[Mapping[str, Any]]) -> bool:
    """Returns whether the ops of a step ask this pool.

    In a process with a device they ask the device's. The host's pools then serve copies and what
    the program gives to the CPU itself, of which a graph does not say how much there is.

    Args:
      allocator: Its name, "gpu_host_bfc#0".
      pools: All of the process, as CollectorLibrary.memory_stats() tells of them.
    """
    of_host = {each["name"] for each in pools if each.get("device", "").startswith("/device:CPU")}
    return allocator not in of_host or len(of_host) == len(pools)
