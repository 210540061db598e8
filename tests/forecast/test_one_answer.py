"""What-if, forecast and remedies tell the same of one step, however they are asked.

Asked of every trace of the repository that has an out-of-memory, and of the demos' own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.jobs import recorded_demo

TRACES = sorted((Path(__file__).parents[2] / "converter/fuzz/corpus/trace").glob("*.xplane.pb"))
DEMOS = ["fragmentation", "capacity", "float64", "leak"]


def number(answer: dict[str, Any], field: str) -> int:
    return int(answer.get(field, 0))


def agree(path: Path, command: Any, dataset: Any) -> None:
    """Asks each about the first out-of-memory."""
    ooms = dataset(path, "oom_window").get("ooms", [])
    if not ooms:
        return
    remedies = {each["kind"]: each for each in ooms[0].get("remedies", [])}
    changes = [
        (str(each.get("line")), each["code"])
        for each in ooms[0].get("remedies", [])
        if "code" in each
    ]
    assert len(set(changes)) == len(changes), "a change is named twice"
    forecasts = dataset(path, "forecast").get("forecasts", [])
    told = [each for each in forecasts if each.get("need") and each.get("oom") == 0]
    asked = json.loads(command("what-if", path, "--format=json").stdout)
    low, high = number(asked, "stepLowBytes"), number(asked, "stepHighBytes")
    for forecast in told:
        if forecast["origin"] != "oom":
            continue
        assert (number(forecast["need"], "lowBytes"), number(forecast["need"], "highBytes")) == (
            low,
            high,
        )
    limit = remedies.get("larger_limit")
    if high and limit and limit["sufficiency"] == "ENOUGH_ALONE":
        assert (number(limit, "needsLowBytes"), number(limit, "needsHighBytes")) == (low, high)
        named = int(limit["values"]["limitBytes"])
        # A sixteenth of it is to spare; about the first in which all find a place is named.
        assert 0.98 * high <= 15 / 16 * named <= 1.2 * high
        assert json.loads(command("what-if", path, f"--limit={named}", "--format=json").stdout)[
            "fits"
        ]
        with_limit = dataset(path, "forecast", f"--limit={named}")["forecasts"]
        known = [each for each in with_limit if each["origin"] == "oom" and each.get("need")]
        assert [each["need"]["fit"] for each in known] in (
            [],
            ["FORECAST_FITS"],
        )
    batch = remedies.get("smaller_batch")
    if batch and batch["sufficiency"] == "ENOUGH_ALONE":
        size, full = (int(batch["values"][name]) for name in ("batchSize", "batchSizeBefore"))
        scaled = json.loads(
            command("what-if", path, f"--batch-scale={size / full}", "--format=json").stdout
        )
        assert number(scaled, "stepHighBytes") == number(batch, "needsHighBytes")
        for forecast in told:
            if forecast["origin"] == "oom":
                assert int(forecast["largestBatch"]) == size


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_of_the_traces_of_the_repository(trace: Path, command: Any, dataset: Any) -> None:
    agree(trace, command, dataset)


@pytest.mark.parametrize("demo", DEMOS)
def test_of_the_demos(demo: str, command: Any, dataset: Any) -> None:
    agree(recorded_demo(demo).logdir, command, dataset)
