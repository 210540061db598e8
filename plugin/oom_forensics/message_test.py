from __future__ import annotations

import pytest

from oom_forensics.datasets import (
    AddressHistory,
    Allocation,
    Chunk,
    DatasetKind,
    Filter,
    Moment,
    Oom,
    Query,
    Remedy,
    Role,
    Sufficiency,
)
from oom_forensics.message import Message


def test_64_bit_integers_keep_every_bit() -> None:
    row = Allocation.from_json({"address": "18446744073709551615", "bornNs": "-1"})
    assert row.address == 2**64 - 1
    assert row.born_ns == -1
    assert row.to_json() == {"address": "18446744073709551615", "bornNs": "-1"}


def test_messages_enums_lists_and_bytes_are_read() -> None:
    oom = Oom.from_json(
        {
            "request": {"opName": "MatMul", "shape": ["8", "16"], "hasShape": True},
            "verdict": {"kind": "FRAGMENTATION", "parts": [{"share": 0.5}]},
            "remedies": [{"kind": "batch", "sufficiency": "ENOUGH_ALONE", "with": ["a"]}],
        }
    )
    assert oom.request.shape == [8, 16]
    assert oom.verdict.parts[0].share == 0.5
    assert oom.remedies[0].sufficiency is Sufficiency.ENOUGH_ALONE
    assert oom.remedies[0].with_ == ["a"]
    assert AddressHistory.from_json({"coverage": "AP8="}).coverage == b"\x00\xff"


def test_numbers_that_are_not_finite_are_read() -> None:
    assert Oom.from_json({"measures": {"reserveWaste": "NaN"}}).measures.reserve_waste != 0


def test_a_field_of_a_newer_converter_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="colour"):
        Chunk.from_json({"free": True, "colour": "red"})
    monkeypatch.setattr(Message, "strict", False)
    assert Chunk.from_json({"free": True, "colour": "red"}) == Chunk(free=True)


def test_what_is_unset_is_not_sent() -> None:
    assert Query().to_json() == {}
    assert Query(at=Moment(oom=0)).to_json() == {"at": {"oom": "0"}}
    query = Query(dataset=DatasetKind.ALLOCATIONS, filter=Filter(role=Role.ROLE_GRADIENT))
    assert query.to_json() == {"dataset": "ALLOCATIONS", "filter": {"role": "ROLE_GRADIENT"}}


def test_a_name_that_python_reserves_is_written_as_the_schema_has_it() -> None:
    assert Remedy(with_=["smaller_batch"]).to_json() == {"with": ["smaller_batch"]}


def test_an_unknown_enum_value_is_refused() -> None:
    with pytest.raises(ValueError, match="LATER"):
        Filter.from_json({"role": "LATER"})
