"""What the converter's module asks of the machine: files and streams.

The functions of WASI that read and write, and those of converter/wasm/host_files.h. A file
descriptor is the process's own, a folder's is a number beyond.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Callable, Iterator

import wasmtime

from oom_forensics.webassembly.errors import wasi_error
from oom_forensics.webassembly.standard_input import StandardInput

_WASI = "wasi_snapshot_preview1"
_OURS = "oom_forensics"
_I32, _I64 = wasmtime.ValType.i32(), wasmtime.ValType.i64()
# O_* of the module's C library.
_WRITE_ONLY, _READ_WRITE = 0o1, 0o2
_CREATE, _EXCLUSIVE, _TRUNCATE, _APPEND, _DIRECTORY = 0o100, 0o200, 0o1000, 0o2000, 0o200000
_FIRST_FOLDER = 1 << 20
_PIECE_BYTES = 16 << 20
# struct HostFile: device, number, size, modified, mode.
_HOST_FILE = struct.Struct("<QQQqI4x")
_VECTOR = struct.Struct("<II")
_SIZE = struct.Struct("<I")
_OFFSET = struct.Struct("<Q")
# __wasi_fdstat_t; its first byte says what sort of file it is.
_FDSTAT_BYTES = 24
_CHARACTER_DEVICE, _REGULAR_FILE = 2, 4


class Host:
    """The functions that a module imports, and the module's memory to answer in."""

    def __init__(self, store: wasmtime.Store, linker: wasmtime.Linker) -> None:
        """Defines the functions; `memory` must be set before one is called."""
        self.memory: wasmtime.Memory | None = None
        self._store = store
        self._input = StandardInput()
        self._folders: dict[int, Iterator[str]] = {}
        self._next_folder = _FIRST_FOLDER
        for module, function, parameters in (
            (_WASI, self.fd_write, [_I32] * 4),
            (_WASI, self.fd_read, [_I32] * 4),
            (_WASI, self.fd_seek, [_I32, _I64, _I32, _I32]),
            (_WASI, self.fd_close, [_I32]),
            (_WASI, self.fd_fdstat_get, [_I32] * 2),
            (_OURS, self.open, [_I32] * 3),
            (_OURS, self.look_at, [_I32] * 4),
            (_OURS, self.look_at_open, [_I32] * 2),
            (_OURS, self.next_entry, [_I32] * 3),
            (_OURS, self.has_input, []),
        ):
            self._define(linker, module, function, parameters)

    def _define(
        self,
        linker: wasmtime.Linker,
        module: str,
        function: Callable[..., int],
        parameters: list[wasmtime.ValType],
    ) -> None:
        # An error is a positive number of WASI's functions, a negative one of ours.
        sign = 1 if module == _WASI else -1

        def call(*arguments: int) -> int:
            try:
                return function(*arguments)
            except OSError as error:
                return sign * wasi_error(error)

        signature = wasmtime.FuncType(parameters, [_I32])
        linker.define_func(module, function.__name__, signature, call)

    # The functions of WASI.

    def fd_write(self, file: int, vectors: int, count: int, written: int) -> int:
        """Writes all that is given."""
        total = 0
        for at, length in self._vectors(vectors, count):
            left = memoryview(self._read(at, length))
            while left:
                left = left[os.write(file, left) :]
            total += length
        self._write(written, _SIZE.pack(total))
        return 0

    def fd_read(self, file: int, vectors: int, count: int, got: int) -> int:
        """Reads what is there, at most what is asked for."""
        total = 0
        for at, length in self._vectors(vectors, count):
            if not length:
                continue
            most = min(length, _PIECE_BYTES)
            piece = self._input.read(most) if file == 0 else os.read(file, most)
            self._write(at, piece)
            total += len(piece)
            if len(piece) < length:
                break
        self._write(got, _SIZE.pack(total))
        return 0

    def fd_seek(self, file: int, offset: int, whence: int, position: int) -> int:
        """Moves in a file."""
        self._write(position, _OFFSET.pack(os.lseek(file, offset, whence)))
        return 0

    def fd_close(self, file: int) -> int:
        """Closes a file or a folder."""
        if self._folders.pop(file, None) is None:
            os.close(file)
        return 0

    def fd_fdstat_get(self, file: int, target: int) -> int:
        """Says whether it is a terminal."""
        kind = _CHARACTER_DEVICE if os.isatty(file) else _REGULAR_FILE
        self._write(target, bytes([kind]).ljust(_FDSTAT_BYTES, b"\0"))
        return 0

    # The functions of host_files.h.

    def open(self, path: int, length: int, flags: int) -> int:
        """Opens a file or a folder."""
        name = self._path(path, length)
        if flags & _DIRECTORY:
            names = os.listdir(name)
            self._next_folder += 1
            self._folders[self._next_folder] = iter(names)
            return self._next_folder
        own = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        for theirs, ours in (
            (_WRITE_ONLY, os.O_WRONLY),
            (_READ_WRITE, os.O_RDWR),
            (_CREATE, os.O_CREAT),
            (_EXCLUSIVE, os.O_EXCL),
            (_TRUNCATE, os.O_TRUNC),
            (_APPEND, os.O_APPEND),
        ):
            if flags & theirs:
                own |= ours
        return os.open(name, own, 0o666)

    def look_at(self, path: int, length: int, follow: int, target: int) -> int:
        """Says of what sort and size a path's file is."""
        return self._tell(os.stat(self._path(path, length), follow_symlinks=bool(follow)), target)

    def look_at_open(self, file: int, target: int) -> int:
        """The same of an open file."""
        return self._tell(os.fstat(file), target)

    def next_entry(self, folder: int, target: int, size_bytes: int) -> int:
        """Gives the next name in an open folder; 0 bytes at the end."""
        for name in self._folders[folder]:
            encoded = os.fsencode(name)
            if len(encoded) <= size_bytes:
                self._write(target, encoded)
                return len(encoded)
        return 0

    def has_input(self) -> int:
        """Whether standard input can be read without waiting."""
        return int(self._input.is_ready())

    def _tell(self, found: os.stat_result, target: int) -> int:
        mode = stat.S_IFMT(found.st_mode)
        numbers = (found.st_dev, found.st_ino, found.st_size)
        whole = [number & 0xFFFF_FFFF_FFFF_FFFF for number in numbers]
        self._write(target, _HOST_FILE.pack(*whole, found.st_mtime_ns, mode))
        return 0

    def _path(self, at: int, length: int) -> str:
        return os.fsdecode(self._read(at, length))

    def _vectors(self, at: int, count: int) -> list[tuple[int, int]]:
        return list(_VECTOR.iter_unpack(self._read(at, count * _VECTOR.size)))

    # A module's numbers have a sign here, its addresses have none. The memory moves when it grows.

    def _address(self, at: int, length: int) -> int:
        assert self.memory is not None  # noqa: S101, set before anything is called
        at &= 0xFFFF_FFFF
        if at + length > self.memory.data_len(self._store):
            raise ValueError("The module gave an address outside of its memory.")
        return ctypes.addressof(self.memory.data_ptr(self._store).contents) + at

    def _read(self, at: int, length: int) -> bytes:
        length &= 0xFFFF_FFFF
        return ctypes.string_at(self._address(at, length), length)

    def _write(self, at: int, data: bytes) -> None:
        ctypes.memmove(self._address(at, len(data)), data, len(data))
