"""`oom-forensics view PATH`: the page of a run, opened in a browser."""

from __future__ import annotations

import argparse
import os
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from oom_forensics.trace import Trace


def main(arguments: Sequence[str]) -> int:
    """Writes the page into a folder for temporary files and opens it; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="oom-forensics view",
        description="Writes the page of a run and opens it in a browser. The page stays"
        " in the temporary folder.",
    )
    parser.add_argument("path", help="an .xplane.pb, a run's folder, a logdir (its newest run)")
    parser.add_argument("--run", default="", help="another run of the logdir")
    parser.add_argument("-o", "--output", type=Path, help="where the page is written")
    options = parser.parse_args(arguments)
    with Trace(options.path, options.run) as trace:
        file = options.output or _new_file()
        trace.to_html(file)
    opened = webbrowser.open(file.resolve().as_uri())
    print(file if opened else f"No browser was found; open {file} in one.")
    return 0


def _new_file() -> Path:
    handle, name = tempfile.mkstemp(prefix="oom-forensics-", suffix=".html")
    os.close(handle)
    return Path(name)
