"""Runs a script as `python SCRIPT` does, and tells how much memory it needed.

    python measured.py PEAK_FILE CODE RECORDING SCRIPT [ARGUMENT...]

CODE is run before the script (a remedy that is a setting). When the script has ended,
PEAK_FILE holds the most bytes that an allocator of TensorFlow had in use. RECORDING, where it
is not empty, is a folder for a recording of the whole run.
"""

from __future__ import annotations

import contextlib
import runpy
import sys
from pathlib import Path

import oom_forensics
import tensorflow as tf  # noqa: F401 (a recording needs it to be there)


def main() -> None:
    """Runs it."""
    peak_file, code, recording, script, *arguments = sys.argv[1:]
    sys.argv = [script, *arguments]
    exec(code, {})  # noqa: S102 (the remedy's own code)
    with oom_forensics.record(recording) if recording else contextlib.nullcontext():
        runpy.run_path(script, run_name="__main__")
    peaks = [
        allocator["peak_in_use_bytes"]
        for allocator in oom_forensics.memory_stats()
        if "BFC" in allocator["kind"].upper()
    ]
    Path(peak_file).write_text(str(max(peaks, default=0)))


if __name__ == "__main__":
    main()
