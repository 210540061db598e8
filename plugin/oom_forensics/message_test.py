from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import threading

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
from oom_forensics.message import Message, dataclass_when_used


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


def in_python(script: str) -> str:
    """What a fresh Python prints: here, all the types may have been used already."""
    return subprocess.check_output([sys.executable, "-c", script], text=True)


def test_the_types_cost_nothing_until_they_are_used() -> None:
    script = (
        "import dataclasses\n"
        "made = []\n"
        "real = dataclasses.dataclass\n"
        "dataclasses.dataclass = lambda cls=None, **k: made.append(cls) or real(cls, **k)\n"
        "from oom_forensics import datasets\n"
        "print([cls for cls in made if issubclass(cls or int, datasets.Message)])\n"
        "datasets.Query()\n"
        "print(sorted(cls.__name__ for cls in made if issubclass(cls or int, datasets.Message)))\n"
    )
    assert in_python(script) == "[]\n['Filter', 'Moment', 'Query', 'WhatIfSettings']\n"


def test_a_prepared_type_and_all_types_in_it_are_made() -> None:
    script = (
        "from oom_forensics import datasets\n"
        "datasets.Compare.prepare()\n"
        "types = [each for each in vars(datasets).values() if isinstance(each, type)]\n"
        "messages = [each for each in types if issubclass(each, datasets.Message)]\n"
        "made = {each.__name__ for each in messages if '__eq__' in vars(each)}\n"
        "print(sorted(made))\n"
    )
    assert in_python(script) == "['Compare', 'CompareRow', 'CompareSide', 'Quality']\n"


def test_a_type_is_a_dataclass_for_whoever_looks_first() -> None:
    script = (
        "import dataclasses, pickle, sys\n"
        "from oom_forensics import datasets\n"
        "assert dataclasses.is_dataclass(datasets.Chunk)\n"
        "assert [f.name for f in dataclasses.fields(datasets.Moment)]\n"
        "oom = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
    )
    kept = pickle.dumps(Oom(host="h", free_bytes=7)).hex()
    script = (
        script.replace("sys.argv[1]", repr(kept))
        + "print(oom == type(oom)(host='h', free_bytes=7))"
    )
    assert in_python(script) == "True\n"
    oom = Oom(host="h", remedies=[Remedy()])
    assert copy.deepcopy(oom) == oom
    assert dataclasses.replace(oom, host="i").host == "i"
    assert repr(Moment(peak=True)).startswith("Moment(")


def test_threads_that_use_a_type_first_at_once_all_get_it() -> None:
    for _ in range(20):

        class Plain(Message):
            number: int = 0
            names: list[str] = dataclasses.field(default_factory=list)

        cls = dataclass_when_used(Plain)
        made: list[Message] = []
        threads = [
            threading.Thread(target=lambda cls=cls, made=made: made.append(cls(number=3)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [cls(3)] * 8
        assert cls(names=["a"]).names == ["a"]
        assert not hasattr(cls, "names")
