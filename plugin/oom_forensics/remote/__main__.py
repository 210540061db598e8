"""What `oom_forensics.remote.sending` runs in a process of its own."""

import sys

from oom_forensics.remote.sending import main

sys.exit(main(*sys.argv[1:]))
