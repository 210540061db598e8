"""Where the converter lies: the static program `oom-forensics`, and a WebAssembly module."""

from __future__ import annotations

import os
from pathlib import Path


class ConverterMissingError(RuntimeError):
    """The package was installed without the converter, or it cannot run here."""


def wasm_path() -> Path:
    """Returns where the converter lies as WebAssembly, which pages without a server hold.

    It is there only where it was built in (OOM_FORENSICS_WASM=1).
    """
    return Path(__file__).resolve().parent / "static" / "converter.wasm"


def converter_path() -> Path:
    """Returns the path of the packaged converter.

    Raises:
      ConverterMissingError: it is not in the package or not executable; the
        message is one sentence for the user.
    """
    path = Path(__file__).resolve().parent / "bin" / "oom-forensics"
    if not path.is_file():
        raise ConverterMissingError(
            f"The converter is missing at {path}: install the package again"
            " (pip install --force-reinstall), or run tools/build"
            " in a source tree."
        )
    if not os.access(path, os.X_OK):
        raise ConverterMissingError(
            f"The converter at {path} may not be executed: give it back its"
            " executable bit (chmod +x)."
        )
    return path
