"""What `what-if` says of a limit is what happens when the job is really run in it.

A demo job is recorded in a pool that is large enough, and `what-if` asked for the smallest limit
of its trace. A MiB above it says that the job fits, and it does; two MiB below it names the
request that is refused, and the job dies of that. One thread, so that the job asks for the same
things each time; the MiB are for what a process does on its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recordings.jobs import OUT_OF_MEMORY, recorded_demo
from recordings.recording import Recording

MIB = 1 << 20


def demo(limit_mib: int, exit_code: int) -> Recording:
    return recorded_demo(
        "fragmentation",
        f"--memory-limit-mib={limit_mib}",
        "--batches=8",
        "--batch-size=128",
        "--large-batches=1",
        exit_code=exit_code,
        TF_NUM_INTRAOP_THREADS="1",
    )


def ask(command: Any, logdir: Path, *flags: str) -> dict[str, Any]:
    done = command("what-if", logdir, "--format=json", *flags)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_named_limit_is_enough_and_less_fails_as_foretold(
    command: Any, dataset: Any, same_words: Any
) -> None:
    large = demo(1024, exit_code=0).logdir
    answer = ask(command, large)
    assert answer["fits"]
    assert answer["placedAlike"] == answer["requests"]
    assert answer["doubts"] == []
    smallest_mib = int(answer["smallestLimitBytes"]) // MIB

    assert ask(command, large, f"--limit={smallest_mib + 1}MiB")["fits"]
    demo(smallest_mib + 1, exit_code=0)

    foretold = ask(command, large, f"--limit={smallest_mib - 2}MiB")
    assert not foretold["fits"]
    small, died = demo(smallest_mib - 2, exit_code=OUT_OF_MEMORY)
    same_words(died.stderr)
    oom = dataset(small, "oom_window")["ooms"][0]["request"]
    refused = foretold["asked"]["refused"]
    assert (oom["opName"], oom["requestedBytes"]) == (refused["opName"], refused["requestedBytes"])
