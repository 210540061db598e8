"""What `what-if` says of a limit is what happens when the job is really run in it.

A demo job is recorded in a pool that is large enough. Of its trace the smallest limit is asked
for; in that the same job trains to its end, and in a smaller one it dies of the very request
that `what-if` names. One thread, so that the job asks for the same things each time.
"""

from __future__ import annotations

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
            "--batches=40",
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
    import json

    done = command("what-if", logdir, "--format=json", *flags)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_named_limit_is_enough_and_less_fails_as_foretold(
    tmp_path: Path, command: Any, dataset: Any
) -> None:
    recorded = run_demo(tmp_path / "large", 1024)
    assert recorded.returncode == 0, recorded.stderr
    answer = ask(command, tmp_path / "large")
    assert answer["fits"]
    assert answer["placedAlike"] == answer["requests"]
    smallest_mib = int(answer["smallestLimitBytes"]) // MIB

    enough = run_demo(tmp_path / "enough", smallest_mib)
    assert enough.returncode == 0, enough.stderr

    too_small_mib = smallest_mib * 3 // 4
    foretold = ask(command, tmp_path / "large", f"--limit={too_small_mib}MiB")
    assert not foretold.get("fits", False)
    died = run_demo(tmp_path / "small", too_small_mib)
    assert died.returncode == OUT_OF_MEMORY, died.stderr
    oom = dataset(tmp_path / "small", "oom_window")["ooms"][0]["request"]
    refused = foretold["asked"]["refused"]
    assert (oom["opName"], oom["requestedBytes"]) == (refused["opName"], refused["requestedBytes"])
