"""Sizes as people write and read them: "1.5 GiB". The converter's core/size_text does the same."""

from __future__ import annotations

import argparse
import re

_UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_NAMES = ("B", "KiB", "MiB", "GiB", "TiB")


def size_in_bytes(text: str) -> int:
    """Reads "16GiB", "512 MiB" or a number of bytes.

    Raises:
      ValueError: It is no size; the message is one sentence.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?b?)\s*", text, re.IGNORECASE)
    unit = match.group(2).lower() if match else "?"
    if len(unit) == 1 and unit in "kmgt":
        unit += "ib"
    if match is None or unit not in _UNITS:
        raise ValueError(f"{text!r} is not a size; write 16GiB, 512MiB or a number of bytes")
    return int(float(match.group(1)) * _UNITS[unit])


def size_argument(text: str) -> int:
    """`size_in_bytes` as the type of a command's argument."""
    try:
        return size_in_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def size_text(size_bytes: int) -> str:
    """Writes 1610612736 as "1.50 GiB": at least three digits, binary units."""
    value = float(abs(size_bytes))
    unit = 0
    # As it will be printed: 1023.96 KiB is 1.00 MiB.
    while unit + 1 < len(_NAMES) and value >= (1024 if unit == 0 else 1023.95):
        value /= 1024
        unit += 1
    sign = "-" if size_bytes < 0 else ""
    if unit == 0:
        return f"{sign}{value:.0f} B"
    return f"{sign}{value:.{2 if value < 10 else 1}f} {_NAMES[unit]}"
