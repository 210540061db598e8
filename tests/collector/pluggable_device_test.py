"""A pluggable device, with TensorFlow's pool and without one: recorded alike, and told apart.

The device is a real plugin (pluggable_device/hosted_device.cc), which the tests build; only its
memory is that of the host.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recordings.jobs import profile_in, recorded_device

Command = Callable[..., subprocess.CompletedProcess[str]]
Dataset = Callable[..., Any]
HERE = Path(__file__).parent
MIB = 1 << 20
LIMIT_BYTES = 64 * MIB
# Of the tensors that the script makes on the device.
LARGE, SMALL = 100 * 1000 * 4, 1000 * 4
# Rounded up by a pool.
UNIT = 256


@dataclass(frozen=True)
class DeviceMode:
    """How the plugin wants its memory to be given out."""

    bfc: bool
    growth: bool
    names: tuple[str, str]

    def environment(self) -> dict[str, str]:
        """The settings of the plugin: two devices of 64 MiB each for tensors."""
        # TensorFlow leaves 255 MiB of a device to others before it makes a pool of the rest.
        return {
            "HOSTED_COUNT": "2",
            "HOSTED_BFC": str(int(self.bfc)),
            "HOSTED_GROWTH": str(int(self.growth)),
            "HOSTED_MIB": str(64 + 255 * self.bfc),
        }


POOLS = ("PluggableDevice_0_bfc#0", "PluggableDevice_1_bfc#0")
MODES = {
    "pool taken at once": DeviceMode(bfc=True, growth=False, names=POOLS),
    "pool that grows": DeviceMode(bfc=True, growth=True, names=POOLS),
    "no pool": DeviceMode(
        bfc=False, growth=False, names=("Simple allocator#0", "Simple allocator#1")
    ),
}


@dataclass(frozen=True)
class Recorded:
    """What came of the script: its own account, the profile's run and the flight recorder's."""

    mode: DeviceMode
    told: dict[str, Any]
    stderr: str
    profile: Path
    oom: Path


@pytest.fixture(scope="module", params=[*MODES.values()], ids=[*MODES])
def recorded(request: pytest.FixtureRequest, bfc_environment: dict[str, str]) -> Recorded:
    """What the script left in each mode."""
    mode: DeviceMode = request.param
    environment = {**bfc_environment, "TF_CPU_ALLOCATOR_USE_BFC": "", **mode.environment()}
    logdir, done = recorded_device(**environment)
    (oom,) = logdir.glob("plugins/profile/*_oom")
    told = json.loads(done.stdout.splitlines()[-1])
    return Recorded(mode, told, done.stderr, profile_in(logdir), oom)


def allocators(dataset: Dataset, run: Path) -> dict[str, Any]:
    (host,) = dataset(run, "info")["hosts"]
    return {allocator["allocator"]: allocator for allocator in host["allocators"]}


def test_each_device_has_an_allocator_of_its_name_and_kind(
    recorded: Recorded, dataset: Dataset
) -> None:
    assert recorded.told["device"].endswith("/device:HOSTED:0")
    known = allocators(dataset, recorded.profile)
    states = {state["name"]: state for state in recorded.told["states"]}
    for number, name in enumerate(recorded.mode.names):
        for allocator in (known[name], states[name]):
            assert allocator["kind"] == "pluggable"
            assert allocator["device"] == f"/device:HOSTED:{number}"
        assert known[name]["hasLayout"] == recorded.mode.bfc


def test_the_limit_of_a_pool_is_known_where_nothing_ran_out(
    recorded: Recorded, dataset: Dataset
) -> None:
    unused = allocators(dataset, recorded.profile)[recorded.mode.names[1]]
    assert unused["oomCount"] == "0"
    # What has been reserved yet is another thing.
    assert int(unused["limitBytes"]) == (LIMIT_BYTES if recorded.mode.bfc else 0)
    if recorded.mode.growth:
        assert int(unused["peakReservedBytes"]) < LIMIT_BYTES
    if recorded.mode.bfc:
        assert unused["closeness"] == pytest.approx(
            int(unused["peakInUseBytes"]) / LIMIT_BYTES, rel=1e-6
        )


def test_the_live_set_is_what_the_script_holds(recorded: Recorded, dataset: Dataset) -> None:
    answer = dataset(
        recorded.profile,
        "allocations",
        "--at=end",
        f"--allocator={recorded.mode.names[0]}",
        "--rows=10000",
    )
    live = answer["allocations"]
    zeros = [a for a in live if a["opName"] == "ZerosLike"]
    assert len(zeros) == recorded.told["kept"]
    assert {(a["requestedBytes"], tuple(a["shape"]), a["dtype"], a["mode"]) for a in zeros} == {
        (str(LARGE), ("100", "1000"), "float32", "EAGER")
    }
    others = sorted(int(a["requestedBytes"]) for a in live if a not in zeros)
    assert others == [SMALL, LARGE]
    assert [a["baseline"] for a in live].count(True) == 1
    assert len({a["address"] for a in live}) == len(live)

    (state,) = (s for s in recorded.told["states"] if s["name"] == recorded.mode.names[0])
    requested = (len(zeros) + 1) * LARGE + SMALL
    if recorded.mode.bfc:
        assert state["requested_bytes"] == requested
        assert state["in_use_bytes"] == int(answer["totalAllocatedBytes"])
    else:
        assert state["in_use_bytes"] == int(answer["totalAllocatedBytes"]) == requested
        peak = (recorded.told["served"] + 1) * LARGE + SMALL
        assert state["peak_in_use_bytes"] == peak
        assert state["largest_allocation_bytes"] == LARGE


def test_the_out_of_memory_is_told_like_any_other(recorded: Recorded, dataset: Dataset) -> None:
    name = recorded.mode.names[0]
    assert "OOM when allocating tensor" in recorded.told["message"]
    assert f"ZerosLike asked {name} for 390.6 KiB (float32 [100,1000])" in recorded.stderr
    for run in (recorded.profile, recorded.oom):
        (oom,) = dataset(run, "oom_window")["ooms"]
        request = oom["request"]
        assert oom["allocator"] == name
        assert request["opName"] == "ZerosLike"
        assert request["requestedBytes"] == str(LARGE)
        assert request["shape"] == ["100", "1000"]
        assert request["dtype"] == "float32"
        # What was served, what it was made like, and the tensor of each device.
        assert oom["liveCount"] == str(recorded.told["served"] + 2)
        assert oom["holders"][0]["count"] == str(recorded.told["served"])
        assert oom["holders"][0]["example"]["opName"] == "ZerosLike"
        assert oom["dumpCheck"]["equal"] == recorded.mode.bfc
        # The script puts them into a list until there is no more.
        assert oom["verdict"]["kind"] == "LEAK_LIKE"
        if recorded.mode.bfc:
            assert oom["request"]["roundedBytes"] == str(-(-LARGE // UNIT) * UNIT)
        else:
            assert "does not say what was free" in oom["verdict"]["doubt"]
            assert oom["request"]["roundedBytes"] == str(LARGE)
            assert oom["limitBytes"] == "0"
            assert oom["pins"] == []


def test_what_if_is_asked_of_each_device_by_itself(recorded: Recorded, command: Command) -> None:
    def ask(number: int, *flags: str) -> subprocess.CompletedProcess[str]:
        name = recorded.mode.names[number]
        return command("what-if", recorded.profile, f"--allocator={name}", "--format=json", *flags)

    if not recorded.mode.bfc:
        assert "there is no pool" in ask(0).stderr
        sums = json.loads(ask(0, "--allocator=async", f"--limit={LIMIT_BYTES}").stdout)
        assert sums["allocator"] == recorded.mode.names[0]
        assert not sums["fits"] or sums["doubts"]
        return
    answers = [json.loads(ask(number).stdout) for number in range(2)]
    assert [answer["allocator"] for answer in answers] == [*recorded.mode.names]
    assert [answer["fits"] for answer in answers] == [False, True]
    assert answers[0]["asked"]["refused"]["opName"] == "ZerosLike"
    assert int(answers[0]["requests"]) > recorded.told["served"]
    for answer in answers:
        assert answer["placedAlike"] == answer["requests"]
    assert json.loads(ask(0, f"--limit={2 * LIMIT_BYTES}").stdout)["fits"]


def test_without_a_pool_there_is_a_sentence_in_place_of_a_map(
    recorded: Recorded, dataset: Dataset
) -> None:
    name = recorded.mode.names[0]
    answer = dataset(recorded.profile, "fragmentation", "--at=oom:0", f"--allocator={name}")
    (address_map,) = answer["maps"]
    (series,) = answer["series"]
    sentences = [q["sentence"] for q in answer["quality"] if q["name"] == "no_layout"]
    if recorded.mode.bfc:
        assert (len(address_map["regions"]) > 1) == recorded.mode.growth
        assert len(series["columns"]) > 0
        assert sentences == []
    else:
        assert address_map["regions"] == address_map["chunks"] == address_map["bins"] == []
        assert series["columns"] == []
        assert len(sentences) == 1
        assert "there is no map of it" in sentences[0]
        history = dataset(recorded.profile, "address_history", f"--allocator={name}")
        assert "no_layout" in [q["name"] for q in history["quality"]]


def test_the_timeline_of_an_allocator_without_a_pool_is_whole(
    recorded: Recorded, dataset: Dataset
) -> None:
    (series,) = dataset(
        recorded.profile, "memory_timeline", f"--allocator={recorded.mode.names[0]}"
    )["series"]
    assert [mark["kind"] for mark in series["marks"]].count("MARK_OOM") == 1
    requested = (recorded.told["served"] + 1) * LARGE + SMALL
    assert int(series["peak"]["requestedBytes"]) == requested
    if not recorded.mode.bfc:
        assert series["peak"]["reservedBytes"] == series["peak"]["inUseBytes"]
