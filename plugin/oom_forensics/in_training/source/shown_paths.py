"""How the path of a source file stands in a run: the setting `source_paths`.

The collector's source_plane_writer does the same with the stacks that it takes.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Literal

# A file's name and a line, as the links of a chain say it.
_PLACE = re.compile(r"\([^()]*:(\d+)\)")
# What the root of a project has.
_ROOT_MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")


class ShownPaths:
    """Writes paths as the user wants them to be seen by those who are given a run."""

    def __init__(self, style: Literal["full", "project", "none"]) -> None:
        self._style = style
        self._root = project_root() if style == "project" else ""

    @property
    def with_text(self) -> bool:
        """Whether lines may be shown with their text."""
        return self._style != "none"

    def without_file(self, text: str) -> str:
        """Returns a text as it may be shown: "f (train.py:41)" or "f (line 41)"."""
        return text if self.with_text else _PLACE.sub(r"(line \1)", text)

    def shown(self, file: str) -> str:
        """Returns a path as it may be shown; empty where it may not."""
        if self._style == "none":
            return ""
        if self._style == "full" or not file.startswith("/"):
            return file
        below = os.path.join(self._root, "")
        return file.removeprefix(below) if file.startswith(below) else os.path.basename(file)


def project_root() -> str:
    """Returns the folder that the job's own code lies in.

    That is the nearest folder above the script (of a prompt or a notebook: above the
    working folder) that looks like the root of a project, else the script's own.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        start = os.path.dirname(os.path.abspath(script)) if script else os.getcwd()
    except OSError:  # the current folder is gone
        return ""
    folder = start
    while True:
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _ROOT_MARKS):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above
