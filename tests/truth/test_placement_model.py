"""The model in which remedies are tried out places requests where TensorFlow places them.

Real TensorFlow records what its allocator did; the converter serves the same requests in
its model of that allocator and says how many of them found the same place. Between threads
the order of the events is not always the order in which the allocator served them: the
converter looks for that order by the addresses. Of six threads that allocate at once it does
not find all of it yet, so that job is not asked here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WORKLOADS = Path(__file__).with_name("workloads")


@pytest.mark.parametrize("workload", ["eager_fragmentation", "keras_fit"])
def test_the_model_places_every_request_as_tensorflow_did(
    workload: str, tmp_path: Path, run_python: Any, dataset: Any
) -> None:
    died = run_python(WORKLOADS / f"{workload}.py", tmp_path)
    assert "OOM when allocating tensor" in died.stderr, died.stderr
    (trace,) = tmp_path.glob("plugins/profile/*[0-9]/*.xplane.pb")
    (oom,) = dataset(trace, "oom_window")["ooms"]
    evidence = {each["name"]: each for each in oom["verdict"]["evidence"]}
    assert evidence["placed_alike"]["value"] == 1, evidence["placed_alike"]["sentence"]
