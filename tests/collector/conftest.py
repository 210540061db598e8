"""A fixture: a copy of the installed TensorFlow whose framework library exports other things.

What is altered is only the table of dynamic symbols, by which others find things; the
code is that of TensorFlow and works as before.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path

import pytest

_LIBRARY = "libtensorflow_framework.so.2"
_SYMBOL_BYTES = 24
# ELF64: st_name u32, st_info u8, st_other u8, st_shndx u16, st_value u64, st_size u64.
_SIZE_OFFSET = 16


AlteredTensorflow = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="session")
def altered_tensorflow() -> AlteredTensorflow:
    return _altered_tensorflow


@contextlib.contextmanager
def _altered_tensorflow(shorten: str = "", hide_prefix: str = "") -> Iterator[str]:
    """Yields a folder for PYTHONPATH that holds the altered `tensorflow`.

    Args:
      shorten: Name of an object that gets the size of three pointers.
      hide_prefix: Functions whose names begin so cannot be found any more.
    """
    spec = find_spec("tensorflow")
    assert spec is not None
    assert spec.origin is not None
    original = Path(spec.origin).parent
    # Beside the original, so that files can be linked instead of copied.
    with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
        # TensorFlow loads plugins only if it lies in a folder of this name.
        site_packages = Path(folder) / "site-packages"
        copy = site_packages / "tensorflow"
        shutil.copytree(original, copy, copy_function=os.link, symlinks=True)
        library = copy / _LIBRARY
        content = bytearray(library.read_bytes())
        library.unlink()
        _alter(content, shorten.encode(), hide_prefix.encode())
        library.write_bytes(content)
        yield str(site_packages)


def _alter(content: bytearray, shorten: bytes, hide_prefix: bytes) -> None:
    """Changes the dynamic symbols of an ELF file in place."""
    symbols, strings = _sections(content)
    altered = 0
    for offset in range(symbols[0], symbols[0] + symbols[1], _SYMBOL_BYTES):
        (name_offset,) = struct.unpack_from("<I", content, offset)
        begin = strings[0] + name_offset
        name = bytes(content[begin : content.index(b"\0", begin)])
        if shorten and name == shorten:
            struct.pack_into("<Q", content, offset + _SIZE_OFFSET, 24)
            altered += 1
        elif hide_prefix and name.startswith(hide_prefix):
            # Its hash stays, so a search by the old name meets another one.
            content[begin : begin + 2] = b"_Y"
            altered += 1
    assert altered


def _sections(content: bytearray) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns (offset, bytes) of .dynsym and .dynstr."""
    (table,) = struct.unpack_from("<Q", content, 40)
    entry_bytes, count = struct.unpack_from("<HH", content, 58)
    dynamic_symbols = 11
    for number in range(count):
        header = table + number * entry_bytes
        _, kind, _, _, offset, size, link = struct.unpack_from("<IIQQQQI", content, header)
        if kind == dynamic_symbols:
            linked = table + link * entry_bytes
            string_offset, string_size = struct.unpack_from("<QQ", content, linked + 24)
            return (offset, size), (string_offset, string_size)
    raise AssertionError("no dynamic symbols")
