"""The model in which remedies are tried out places requests where TensorFlow places them.

Real TensorFlow records what its allocator did; the converter replays the same requests
through its model of that allocator and says how many of them found the same place.

Of a job whose ops run one after the other: between threads, the order of the events is not
always the order in which the allocator served them, and what lies elsewhere once moves what
follows. The verdict's evidence says how many were placed alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORKLOAD = Path(__file__).with_name("workloads") / "eager_fragmentation.py"


def test_the_model_places_every_request_as_tensorflow_did(
    tmp_path: Path, run_python: Any, dataset: Any
) -> None:
    died = run_python(WORKLOAD, tmp_path)
    assert "OOM when allocating tensor" in died.stderr, died.stderr
    (trace,) = tmp_path.glob("plugins/profile/*[0-9]/*.xplane.pb")
    (oom,) = dataset(trace, "oom_window")["ooms"]
    evidence = {each["name"]: each for each in oom["verdict"]["evidence"]}
    assert evidence["placed_alike"]["value"] == 1, evidence["placed_alike"]["sentence"]
