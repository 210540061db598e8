"""What the command prints about a trace, and its page in the cell of a notebook."""

from __future__ import annotations

import html
import subprocess

from oom_forensics.converter.binary import find_converter
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.logdir import first_reading


class TraceError(OomForensicsError):
    """A trace or a dataset of it cannot be read; the message is one sentence."""


def output_of(command: str, path: str, *flags: str) -> bytes:
    """Runs `oom-forensics COMMAND PATH FLAGS` and returns what it printed.

    Raises:
      TraceError: it ended with an error.
      ConverterMissingError: the package holds no converter.
    """
    first_reading.complete(path)
    done = subprocess.run(
        find_converter().command(command, path, *flags),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise TraceError(
            said.removeprefix("oom-forensics: ")
            or f"oom-forensics {command} ended with {done.returncode}."
        )
    return done.stdout


def frame_of(page: str, height: int = 800) -> str:
    """Returns a whole page as a frame `height` pixels high inside another page.

    The frame may run the page's own scripts and nothing else: no cookies, no storage, no
    navigation of the notebook around it.
    """
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads"'
        f' title="OOM Forensics" style="width:100%;height:{height}px;border:0"></iframe>'
    )


def text_of(report: str, why: str) -> str:
    """Returns a report as HTML, and in one sentence why it is no page."""
    return f"<pre>{html.escape(report)}</pre><p>{html.escape(why)}</p>"
