"""Names that someone chose, as a real job gives them: the right role and layer for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NET = "Net_1/TextEncoder_1"


@pytest.fixture(scope="module")
def rows(
    run_python: Any, dataset: Any, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """All allocations of custom_names.py."""
    logdir = tmp_path_factory.mktemp("names")
    done = run_python(Path(__file__).with_name("custom_names.py"), logdir)
    assert done.returncode == 0, done.stderr
    answer = dataset(logdir, "allocations", "--range", "--limit=100000")
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


def test_an_optimizer_of_any_name_inside_another_one_is_an_optimizer(
    rows: list[dict[str, Any]],
) -> None:
    updates = of(rows, "/my_rule/update_")
    assert updates
    assert "ACTIVATION" not in {role for _, role in updates}


def test_what_comes_from_the_iterator_of_many_devices_is_input(rows: list[dict[str, Any]]) -> None:
    assert {role for _, role in of(rows, "MultiDeviceIterator")} == {"INPUT"}
