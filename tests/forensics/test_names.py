"""Names that someone chose, as a real job gives them: the right role and layer for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, Recording

NET = "Net_1/TextEncoder_1"


@pytest.fixture(scope="module")
def logdir(record: Callable[..., Recording]) -> Path:
    """A recording of custom_names.py."""
    return record(Path(__file__).with_name("custom_names.py"), LOGDIR).logdir


@pytest.fixture(scope="module")
def rows(dataset: Any, logdir: Path) -> list[dict[str, Any]]:
    """All allocations of custom_names.py."""
    answer = dataset(logdir, "allocations", "--range", "--rows=100000")
    return list(answer["allocations"])


def of(rows: list[dict[str, Any]], part: str) -> set[tuple[str, str]]:
    """Scopes and roles of what has `part` in its name and holds more than a few numbers."""
    return {
        (row.get("scope", ""), row["role"].removeprefix("ROLE_"))
        for row in rows
        if part in row.get("opName", "") and int(row["requestedBytes"]) >= 1024
    }


def test_a_layer_in_camel_case_keeps_its_name_in_gradients(rows: list[dict[str, Any]]) -> None:
    assert of(rows, "gradient_tape/Net_1/TextEncoder_1/FirstProjection_1/MatMul") == {
        (f"{NET}/FirstProjection_1", "GRADIENT")
    }
    assert all(scope.startswith(NET) for scope, _ in of(rows, "gradient_tape/Net_1/TextEncoder_1"))


def test_the_layer_of_another_replica_is_the_same_layer(rows: list[dict[str, Any]]) -> None:
    relu = "TextEncoder_1/FirstProjection_1/Relu"
    assert of(rows, f"replica_1/Net_1/{relu}") == {(f"{NET}/FirstProjection_1", "ACTIVATION")}
    assert of(rows, relu) == of(rows, f"replica_1/Net_1/{relu}")


def test_replicas_are_told_apart_where_that_is_asked(dataset: Any, logdir: Path) -> None:
    answer = dataset(logdir, "allocations", "--range", "--group-by=replica")
    bytes_of = {group["key"]: int(group["allocatedBytes"]) for group in answer["groups"]}
    assert bytes_of.keys() == {"replica_1", "(first replica, or none)"}
    # Both train alike; the first one's group has what is in none, too.
    assert 0.1 < bytes_of["replica_1"] / sum(bytes_of.values()) <= 0.5
    series = dataset(logdir, "memory_timeline", "--group-by=replica", "--top=5")["series"]
    assert "replica_1" in str(series)


def test_an_optimizer_of_any_name_inside_another_one_is_an_optimizer(
    rows: list[dict[str, Any]],
) -> None:
    updates = of(rows, "/my_rule/update_")
    assert updates
    assert "ACTIVATION" not in {role for _, role in updates}


def test_an_optimizer_of_the_programs_own_class_is_known_by_what_it_is(
    rows: list[dict[str, Any]],
) -> None:
    updates = of(rows, "/damped/")
    assert updates
    assert {role for _, role in updates} <= {"OPTIMIZER", "WORKSPACE", "VARIABLE"}
    assert "OPTIMIZER" in {role for _, role in updates}


def test_what_comes_from_the_iterator_of_many_devices_is_input(rows: list[dict[str, Any]]) -> None:
    assert {role for _, role in of(rows, "MultiDeviceIterator")} == {"INPUT"}
