"""What `oom_forensics.open` returns: a trace whose datasets are typed objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oom_forensics.trace.opened_trace import At, Trace
    from oom_forensics.trace.pages import TraceError

__all__ = ["At", "Trace", "TraceError"]


# When they are asked for: the command prints about a trace and opens none.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from oom_forensics.trace import opened_trace

    return getattr(opened_trace, name)
