"""The text of a source line, also of one that stands in no file: a notebook's, a prompt's."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys


def text_of(file: str, line: int) -> str:
    """Returns a line as Python shows it in a traceback; empty where it is not known.

    A notebook's file has a name that says nothing, so its lines begin with the cell they
    are of, as the notebook numbers it: "In[3]: model.fit(...)".
    """
    text = linecache.getline(file, line).strip()
    cell = _cell_of(file) if text else ""
    return f"{cell}: {text}" if cell else text


def sources_without_file() -> list[str]:
    """Returns the names of code whose lines only this process has."""
    return [name for name in list(linecache.cache) if not os.path.exists(name)]


def _cell_of(file: str) -> str:
    with contextlib.suppress(Exception):
        shell = sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance
        _, name = shell.compile.format_code_name(file)
        return str(name)
    return ""
