"""What `what-if` says of a limit is what happens when the job is really run in it.

A demo job is recorded in a pool that is large enough, and `what-if` asked for the smallest limit
of its trace. A MiB above it says that the job fits, and it does; two MiB below it names the
request that is refused, and the job dies of that. One thread, so that the job asks for the same
things each time; the MiB are for what a process does on its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[2] / "tools"
MIB = 1 << 20
OUT_OF_MEMORY = 3


def run_demo(logdir: Path, limit_mib: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "demos.fragmentation",
            "--logdir",
            str(logdir),
            "--memory-limit-mib",
            str(limit_mib),
            "--batches=8",
            "--batch-size=128",
            "--large-batches=1",
        ],
        cwd=TOOLS,
        env={**os.environ, "TF_NUM_INTEROP_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def ask(command: Any, logdir: Path, *flags: str) -> dict[str, Any]:
    done = command("what-if", logdir, "--format=json", *flags)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_named_limit_is_enough_and_less_fails_as_foretold(
    tmp_path: Path, command: Any, dataset: Any, same_words: Any
) -> None:
    recorded = run_demo(tmp_path / "large", 1024)
    assert recorded.returncode == 0, recorded.stderr
    answer = ask(command, tmp_path / "large")
    assert answer["fits"]
    assert answer["placedAlike"] == answer["requests"]
    assert answer["doubts"] == []
    smallest_mib = int(answer["smallestLimitBytes"]) // MIB

    assert ask(command, tmp_path / "large", f"--limit={smallest_mib + 1}MiB")["fits"]
    enough = run_demo(tmp_path / "enough", smallest_mib + 1)
    assert enough.returncode == 0, enough.stderr

    foretold = ask(command, tmp_path / "large", f"--limit={smallest_mib - 2}MiB")
    assert not foretold["fits"]
    died = run_demo(tmp_path / "small", smallest_mib - 2)
    assert died.returncode == OUT_OF_MEMORY, died.stderr
    same_words(died.stderr)
    oom = dataset(tmp_path / "small", "oom_window")["ooms"][0]["request"]
    refused = foretold["asked"]["refused"]
    assert (oom["opName"], oom["requestedBytes"]) == (refused["opName"], refused["requestedBytes"])
