"""Runs the converter's module in this process."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import wasmtime

from oom_forensics.converter.binary import MEMORY_VARIABLE
from oom_forensics.webassembly.host import Host

_MOST_MEMORY_MIB = 4096
_MODULE = Path(__file__).resolve().parents[1] / "static" / "program.wasm"
# What the converter reads of the environment: how a terminal is to be written to.
_VARIABLES = ("NO_COLOR", "TERM", "COLUMNS", "LANG", "LC_ALL", "LC_CTYPE")


def become(arguments: Sequence[str]) -> NoReturn:
    """Ends this process as the converter: with its output and its exit code."""
    # As a program does that knows of no signal: it ends at once.
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    code = run(arguments)
    sys.stdout.flush()
    # Without waiting for the thread that reads standard input.
    os._exit(code)


def run(
    arguments: Sequence[str], module: Path = _MODULE, variables: Sequence[str] = _VARIABLES
) -> int:
    """Runs `oom-forensics ARGUMENTS` on this process's streams; returns the exit code.

    Another module of such a program may be given, and which of the environment's variables it sees.
    """
    _make_streams_binary()
    engine = wasmtime.Engine(_config())
    store = wasmtime.Store(engine)
    store.set_limits(memory_size=_memory_bytes())
    wasi = wasmtime.WasiConfig()
    wasi.env = [(name, os.environ[name]) for name in variables if name in os.environ]
    store.set_wasi(wasi)
    linker = wasmtime.Linker(engine)
    # Of WASI's functions the host has some of its own.
    linker.allow_shadowing = True
    linker.define_wasi()
    host = Host(store, linker)
    instance = linker.instantiate(store, wasmtime.Module.from_file(engine, str(module)))
    exports = instance.exports(store)
    memory = exports["memory"]
    assert isinstance(memory, wasmtime.Memory)  # noqa: S101
    host.memory = memory

    def call(name: str, *numbers: int) -> int:
        function = exports[name]
        assert isinstance(function, wasmtime.Func)  # noqa: S101
        return int(function(store, *numbers) or 0)

    try:
        call("_initialize")
        words = b"".join(os.fsencode(_portable(argument)) + b"\0" for argument in arguments)
        at = call("allocate", max(1, len(words)))
        memory.write(store, words, at)
        return call("run", at, len(words))
    except wasmtime.ExitTrap as ended:
        return ended.code


def _portable(argument: str) -> str:
    """A path as the module knows paths; of flags and their values nothing is changed."""
    return argument if argument.startswith("-") else argument.replace(os.sep, "/")


def _config() -> wasmtime.Config:
    config = wasmtime.Config()
    config.wasm_exceptions = True
    # The module is made into the machine's code once, which takes some seconds; or each time, where
    # there is no folder to keep it in.
    with contextlib.suppress(wasmtime.WasmtimeError):
        config.cache = True
    return config


def _memory_bytes() -> int:
    try:
        mib = int(os.environ.get(MEMORY_VARIABLE, ""))
    except ValueError:
        mib = _MOST_MEMORY_MIB
    return min(max(mib, 1), _MOST_MEMORY_MIB) << 20


def _make_streams_binary() -> None:
    if sys.platform == "win32":
        import msvcrt

        for stream in (0, 1, 2):
            msvcrt.setmode(stream, os.O_BINARY)
