"""Between threads, too, the model of the allocator places every request where TensorFlow did.

Many of them allocate at once here, and nothing runs out of memory: what the recorded order says
is all that the model is told. `test_truth.py` has threads of Python and an out-of-memory.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recordings.recording import LOGDIR

WORKLOAD = Path(__file__).with_name("workloads") / "parallel_calls.py"


def test_calls_that_run_in_parallel_are_served_in_the_recorded_order(
    record: Any, command: Any
) -> None:
    asked = command("what-if", record(WORKLOAD, LOGDIR).logdir, "--format=json")
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert int(answer["requests"]) > 10_000
    assert answer["placedAlike"] == answer["requests"]
    assert answer["doubts"] == []
