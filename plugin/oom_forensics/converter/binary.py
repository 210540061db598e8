"""Which converter answers here: a program of the machine's own, or a WebAssembly module.

The program lies in this package where it was installed whole, or in that of the collector
(`oom_forensics_collector`). Where there is none for the machine, or OOM_FORENSICS_CONVERTER=wasm
says so, the module answers, run by wasmtime (`webassembly`); the same sources, the same answers.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oom_forensics import __version__
from oom_forensics.core.errors import OomForensicsError

MEMORY_VARIABLE = "OOM_FORENSICS_WASM_MEMORY_MIB"
"""How much memory the module may have; 4096 at most, which is all that it can address."""

_PACKAGE = Path(__file__).resolve().parents[1]
_STATIC = _PACKAGE / "static"
_PROGRAM = "bin/oom-forensics"
_COLLECTOR = "oom_forensics_collector"
_CHOICE = "OOM_FORENSICS_CONVERTER"
# Commands whose answer holds the files of the tab.
_PAGES = ("html", "viewer")


class ConverterMissingError(OomForensicsError):
    """The package was installed without a converter, or none can run here."""


@dataclass(frozen=True)
class Converter:
    """A converter that can be started."""

    program: Path
    """The program, or the module."""
    is_native: bool
    why: str = ""
    """Where it is the module: why no program is used."""

    def command(self, *arguments: str | os.PathLike[str]) -> list[str]:
        """Returns the command that answers as `oom-forensics ARGUMENTS` does."""
        start = [str(self.program)]
        if not self.is_native:
            start = [sys.executable, str(_PACKAGE / "webassembly/__main__.py")]
        return [*start, *self.words(arguments)]

    def words(self, arguments: Sequence[str | os.PathLike[str]]) -> list[str]:
        """Returns the arguments, and where the files of the tab lie if a page is asked for."""
        words = [os.fspath(argument) for argument in arguments]
        has_folder = any(word.partition("=")[0] == "--frontend-dir" for word in words)
        if not has_folder and any(page in words for page in _PAGES):
            words.append(f"--frontend-dir={_STATIC}")
        return words


def wasm_path() -> Path:
    """Returns where the converter lies as WebAssembly, which pages without a server hold.

    It is there only where it was built in (OOM_FORENSICS_WASM=1).
    """
    return _STATIC / "converter.wasm"


def find_converter() -> Converter:
    """Returns the converter that answers here.

    Raises:
      ConverterMissingError: there is none that can run; the message is one sentence for the user.
    """
    choice = os.environ.get(_CHOICE, "")
    if choice not in ("", "native", "wasm"):
        raise ConverterMissingError(f"{_CHOICE}={choice} is no converter; it is native or wasm.")
    why = f"{_CHOICE}=wasm"
    if choice != "wasm":
        program, why = _native()
        if program is not None:
            return Converter(program, is_native=True)
        if choice == "native":
            raise ConverterMissingError(f"{_CHOICE}=native, but {why}.")
    return Converter(_module(why), is_native=False, why=why)


def _native() -> tuple[Path | None, str]:
    """Returns the program, or why there is none."""
    if os.name != "posix":
        return None, "there is none of this machine's own"
    own = _PACKAGE / _PROGRAM
    program = own if own.is_file() else _beside_the_collector()
    if program is None:
        return None, "there is none of this machine's own"
    if not os.access(program, os.X_OK):
        return None, f"{program} may not be executed (give it back its executable bit: chmod +x)"
    if program != own and (version := _version_of_the_collector()) != __version__:
        return None, f"oom-forensics-collector is of version {version}, this is {__version__}"
    return program, ""


def _beside_the_collector() -> Path | None:
    try:
        found = importlib.util.find_spec(_COLLECTOR)
    except (ImportError, ValueError):
        return None
    for folder in (found and found.submodule_search_locations) or ():
        if (program := Path(folder) / _PROGRAM).is_file():
            return program
    return None


def _version_of_the_collector() -> str:
    # Takes as long to import as all of this package, and most never ask.
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version("oom-forensics-collector"))
    except metadata.PackageNotFoundError:
        return "unknown"


def _module(why_no_program: str) -> Path:
    module = _STATIC / "program.wasm"
    if not module.is_file():
        raise ConverterMissingError(
            f"The converter is missing: {why_no_program}, and there is no {module}; install the"
            " package again (pip install --force-reinstall), or run tools/build in a source tree."
        )
    if importlib.util.find_spec("wasmtime") is None:
        raise ConverterMissingError(
            f"The converter cannot run: {why_no_program}, and wasmtime, which runs the one for any"
            " machine, is not installed (pip install wasmtime)."
        )
    return module
