"""Asks six datasets of one file in Python, as a person at a prompt does.

Usage: six_datasets.py FILE. Prints one JSON object.
"""

import json
import resource
import sys

import oom_forensics


def main(path: str) -> None:
    """Opens the file once and asks all six of it."""
    with oom_forensics.open(path) as trace:
        answers = (
            trace.info(),
            trace.memory_timeline(),
            trace.allocations(),
            trace.fragmentation(),
            trace.leaks(),
            trace.steps(),
        )
    own, converters = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(json.dumps({"peak_mib": own + converters, "answers": len(answers)}))


if __name__ == "__main__":
    main(sys.argv[1])
