"""`python -m oom_forensics` is the `oom-forensics` command."""

import sys

from oom_forensics.command import main

sys.exit(main())
