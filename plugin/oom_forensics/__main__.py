"""`python -m oom_forensics` is the `oom-forensics` command."""

import sys

from oom_forensics.cli.main import main

sys.exit(main())
