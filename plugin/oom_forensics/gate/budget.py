"""The budget of a job's memory, as a TOML file says it.

    allocator = "GPU_0_bfc"     # which allocators, by a part of their name; all of them if left out
    peak = "6 GiB"              # the most in use at once
    peak_growth = "256 MiB"     # how much that may exceed the baseline's
    layer_growth = "64 MiB"     # how much each layer may exceed the baseline's, at the peak
    fragmentation = 0.3         # share of the free bytes outside the largest hole, at the peak
    leak_per_step = "0 B"       # growth of any site from step to step
    out_of_memory = true        # allowed; by default a run that ran out of memory fails

    [production]                # the recorded requests as the production job would make them
    limit = "16 GiB"
    batch = 64

What a budget leaves out is not checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from oom_forensics.core.errors import OomForensicsError
from oom_forensics.core.sizes import size_in_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class BudgetError(OomForensicsError):
    """A budget cannot be read; the message is one sentence."""


@dataclass(frozen=True)
class Production:
    """The job that the run stands for."""

    limit: int | None = None
    """Bytes that its pool may hold; None: as recorded."""
    batch: int | None = None
    """Examples of its batch; None: as recorded."""


@dataclass(frozen=True)
class Budget:
    """What a run may use at most; None: not checked. Sizes are bytes."""

    allocator: str = ""
    peak: int | None = None
    peak_growth: int | None = None
    layer_growth: int | None = None
    fragmentation: float | None = None
    leak_per_step: int | None = None
    out_of_memory: bool = False
    production: Production | None = None

    @property
    def needs_baseline(self) -> bool:
        """Whether a part of it compares with another run."""
        return self.peak_growth is not None or self.layer_growth is not None


def read_budget(path: Path) -> Budget:
    """Reads a budget's file.

    Raises:
      BudgetError: It cannot be read, or says something that is not known.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return budget_of(tomllib.loads(text))
    except OSError as error:
        raise BudgetError(f"Cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BudgetError(f"{path} is not TOML: {error}.") from None
    except BudgetError as error:
        raise BudgetError(f"{path}: {error}") from None


def budget_of(keys: Mapping[str, Any]) -> Budget:
    """Returns the budget of a file's parsed keys.

    Raises:
      BudgetError: A key or its value is not known.
    """
    try:
        return Budget(**_values(keys, _READERS, ""))
    except ValueError as error:
        raise BudgetError(f"{error}.") from None


def _values(
    table: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]], where: str
) -> dict[str, Any]:
    values = {}
    for key, value in table.items():
        if key not in readers:
            known = ", ".join(readers)
            raise ValueError(f"{where}{key} is not a key of a budget; the keys are {known}")
        try:
            values[key] = readers[key](value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}{key}: {error}") from None
    return values


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{value!r} is not a size; write '6 GiB' or a number of bytes")
    return size_in_bytes(str(value))


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not a share between 0 and 1")
    return float(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(f"{value!r} is not a number of examples")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a name")
    return value


def _production(value: object) -> Production:
    if not isinstance(value, dict):
        raise ValueError("it is a table: [production]")
    return Production(**_values(value, {"limit": _size, "batch": _count}, "production."))


_READERS: dict[str, Callable[[Any], Any]] = {
    "allocator": _text,
    "peak": _size,
    "peak_growth": _size,
    "layer_growth": _size,
    "fragmentation": _share,
    "leak_per_step": _size,
    "out_of_memory": _flag,
    "production": _production,
}
# Every key is read.
assert set(_READERS) == {field.name for field in fields(Budget)}  # noqa: S101
