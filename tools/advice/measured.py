"""Runs a script as `python SCRIPT` does, and tells how much memory it needed.

    python measured.py PEAK_FILE CODE SCRIPT [ARGUMENT...]

CODE is run before the script (a remedy that is a setting). When the script has ended,
PEAK_FILE holds the most bytes that an allocator of TensorFlow had in use.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import oom_forensics


def main() -> None:
    """Runs it."""
    peak_file, code, script, *arguments = sys.argv[1:]
    sys.argv = [script, *arguments]
    exec(code, {})  # noqa: S102 (the remedy's own code)
    runpy.run_path(script, run_name="__main__")
    peaks = [
        allocator["peak_in_use_bytes"]
        for allocator in oom_forensics.memory_stats()
        if "BFC" in allocator["kind"].upper()
    ]
    Path(peak_file).write_text(str(max(peaks, default=0)))


if __name__ == "__main__":
    main()
