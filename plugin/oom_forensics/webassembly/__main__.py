"""`python -m oom_forensics.webassembly`, or this file by its path: the converter as a process."""

import sys
from pathlib import Path

# Beside whom it was started, and not what lies where it was started.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from oom_forensics.webassembly.program import become  # noqa: E402

become(sys.argv[1:])
