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

_INSTALLED = ("/site-packages/", "/dist-packages/")
# What AutoGraph writes; TensorFlow maps its lines back to the user's where it can.
_GENERATED = "__autograph_generated_file"
_OF_PYTHON = ("<frozen ", "<__array_function__", "<attrs generated", "<decorator-gen")


class CodeOrigin:
    """Tells the user's files from those of libraries.

    `user_paths` and `library_paths` are prefixes of paths, separated by colons, that say
    otherwise; of all prefixes that a file has, the longest decides.
    """

    def __init__(self, user_paths: str = "", library_paths: str = "") -> None:
        self._prefixes = dict.fromkeys(_library_folders(), False)
        self._prefixes.update(dict.fromkeys(_split(library_paths), False))
        self._prefixes.update(dict.fromkeys(_split(user_paths), True))
        self._known: dict[str, bool] = {}

    def is_user(self, file: str) -> bool:
        """Whether a file, named as code objects name it, is the user's."""
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._decide(file)
        return known

    @property
    def library_prefixes(self) -> list[str]:
        """The prefixes of libraries, each with a slash at its end."""
        return [prefix for prefix, user in self._prefixes.items() if not user]

    @property
    def user_prefixes(self) -> list[str]:
        """The prefixes that are the user's whatever lies around them."""
        return [prefix for prefix, user in self._prefixes.items() if user]

    def _decide(self, file: str) -> bool:
        if file.startswith("<"):
            return not file.startswith(_OF_PYTHON)
        if _GENERATED in file:
            return False
        path = os.path.abspath(file)
        longest = max((p for p in self._prefixes if path.startswith(p)), key=len, default="")
        if longest and self._prefixes[longest]:
            return True
        return not longest and not any(folder in path for folder in _INSTALLED)


def _split(paths: str) -> list[str]:
    return [_folder(path) for path in paths.split(os.pathsep) if path]


def _folder(path: str) -> str:
    return os.path.join(os.path.abspath(path), "")


def _library_folders() -> list[str]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = [sysconfig.get_paths().get(name) for name in names]
    paths += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    paths.append(site.getusersitepackages() if hasattr(site, "getusersitepackages") else None)
    # Found from this very process, wherever they were put.
    for name in ("tensorflow", "keras", "tf_keras", "oom_forensics"):
        file = getattr(sys.modules.get(name), "__file__", None)
        paths.append(os.path.dirname(file) if file else None)
    return [_folder(path) for path in paths if path]
