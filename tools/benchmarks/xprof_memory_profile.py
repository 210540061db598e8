"""Times xprof's memory_profile on one file, in its own environment.

Usage: xprof_memory_profile.py FILE. Prints one JSON object.
"""

import json
import resource
import sys
import time

from xprof.convert import raw_to_tool_data


def main(path: str) -> None:
    """Converts the file once, as a first opening of xprof's tab does."""
    start = time.monotonic()
    data, _ = raw_to_tool_data.xspace_to_tool_data([path], "memory_profile", {})
    seconds = time.monotonic() - start
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mib, "bytes": len(data)}))


if __name__ == "__main__":
    main(sys.argv[1])
