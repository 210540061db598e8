"""Whose code a file holds: the user's, or a library's.

A library is what belongs to Python or is installed: below the folders that Python
installs packages into. Everything else is the user's: scripts, projects (also those
installed in place, `pip install -e`), notebooks, the interactive prompt, code that was
made from a string.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import tempfile
from pathlib import Path

from oom_forensics.in_training.evidence.settings import EvidenceSettings

_OF_PYTHON = ("<frozen ", "<__array_function__", "<attrs generated", "<decorator-gen")


class CodeOrigin:
    """Tells the user's files from those of libraries.

    `user_paths` and `library_paths` are prefixes of paths, separated by colons, that say
    otherwise; of all prefixes that a file has, the longest decides.
    """

    def __init__(self, user_paths: str = "", library_paths: str = "") -> None:
        self._prefixes = dict.fromkeys(library_prefixes(), False)
        self._prefixes.update(dict.fromkeys(_split(library_paths), False))
        self._prefixes.update(dict.fromkeys(_split(user_paths), True))
        self._known: dict[str, bool] = {}

    @classmethod
    def of(cls, settings: EvidenceSettings) -> CodeOrigin:
        """Returns one by the user's settings."""
        return cls(settings.user_paths, settings.library_paths)

    def is_user(self, file: str) -> bool:
        """Whether a file, named as code objects name it, is the user's."""
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._decide(file)
        return known

    def _decide(self, file: str) -> bool:
        if file.startswith("<"):
            return not file.startswith(_OF_PYTHON)
        path = os.path.abspath(file)
        longest = max((p for p in self._prefixes if path.startswith(p)), key=len, default="")
        return self._prefixes.get(longest, True)


def _split(paths: str) -> list[str]:
    return [os.path.join(os.path.abspath(path), "") for path in paths.split(os.pathsep) if path]


def library_prefixes() -> list[str]:
    """Returns how the paths of Python's library, installed packages and made files begin."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    # A virtual environment has a library of its own beside the one it was made from.
    folders.update(site.getsitepackages([sys.prefix, sys.base_prefix]))
    folders.add(site.getusersitepackages())
    folders.update(path for path in sys.path if path.endswith(("/site-packages", "/dist-packages")))
    folders.add(str(Path(__file__).resolve().parents[2]))
    folders.update([os.path.realpath(folder) for folder in folders])
    # What AutoGraph writes of a function of the user's has other lines than that one; the
    # call of the function is the user's, or TensorFlow maps its lines back.
    generated = os.path.join(tempfile.gettempdir(), "__autograph_generated_file")
    return [*sorted(folder.rstrip("/") + "/" for folder in folders), generated]
