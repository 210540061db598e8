"""What XLA allocates is named down to its buffer, and its modules are in every run."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, recorded
from tensorflow.compiler.xla.service import hlo_pb2
from tensorflow.tsl.profiler.protobuf import xplane_pb2
from versions import oldest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).parent / "scripts/compiled.py"
XPROF = Path(sys.prefix) / "xprof"


@dataclass
class Trace:
    """An `.xplane.pb`."""

    path: Path

    @cached_property
    def space(self) -> Any:
        space = xplane_pb2.XSpace()
        space.ParseFromString(self.path.read_bytes())
        return space

    def plane(self, name: str) -> Any:
        (plane,) = [plane for plane in self.space.planes if plane.name.startswith(name)]
        return plane

    def allocations(self, kind: str) -> list[dict[str, Any]]:
        """Returns the stats of every event of a kind, those of its site among them."""
        plane = self.plane("/oom_forensics:bfc")
        return [
            stats_of(plane, metadata.stats) | stats_of(plane, event.stats)
            for line in plane.lines
            for event in line.events
            if (metadata := plane.event_metadata[event.metadata_id]).name == kind
        ]

    @cached_property
    def modules(self) -> dict[int, Any]:
        """Returns the HloProtos by program id."""
        modules = {}
        for key, metadata in self.plane("/host:metadata").event_metadata.items():
            proto = hlo_pb2.HloProto()
            proto.ParseFromString(
                stats_of(self.plane("/host:metadata"), metadata.stats)["Hlo Proto"]
            )
            assert metadata.name == f"{proto.hlo_module.name}({key})"
            assert proto.hlo_module.id == key
            modules[key] = proto
        return modules


def stats_of(plane: Any, stats: Any) -> dict[str, Any]:
    found = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        name = plane.stat_metadata[stat.metadata_id].name
        found[name] = plane.stat_metadata[value].name if kind == "ref_value" else value
    return found


@dataclass
class Runs:
    """What one version of TensorFlow left behind."""

    version: str
    profile: Trace
    snapshot: Trace
    oom: Trace


@pytest.fixture(scope="module", params=["newest", oldest.VERSION])
def runs(request: pytest.FixtureRequest, bfc_environment: dict[str, str]) -> Runs:
    python = sys.executable if request.param == "newest" else oldest.python_with_collector()

    def run(mode: str, exit_code: int | None, says: str) -> Path:
        return recorded(
            [python, SCRIPT, mode, LOGDIR],
            {
                **bfc_environment,
                "OOM_FORENSICS_LOGDIR": f"{LOGDIR}/oom",
                "PYTHONPATH": str(ROOT / "plugin"),
            },
            [SCRIPT],
            exit_code=exit_code,
            says=says,
            timeout_s=400,
        ).logdir

    def trace(folder: Path) -> Trace:
        (path,) = folder.rglob("*.xplane.pb")
        return Trace(path)

    logdir = run("all", exit_code=0, says="")
    # How TensorFlow ends after an out-of-memory in XLA is its own affair: it may abort.
    died = run("oom", exit_code=None, says="one_step_on_data (compiled by XLA, temp) asked")
    return Runs(
        request.param, trace(logdir / "profile"), trace(logdir / "snapshot"), trace(died / "oom")
    )


# What TensorFlow's profiler calls the run of an executable; where it has no name for that,
# as in 2.18, the kernels that launch them, which also compile.
EXECUTION = re.compile("ExecuteAsyncOnStream")
LAUNCH = re.compile("ProcessAsync::Start$|:_XlaRun$|^__inference_my_step")


def requested_in_executables(trace: Trace) -> Counter[int]:
    """Returns what TensorFlow's own profiler saw allocated while XLA's executables ran.

    Requested bytes and how often.
    """
    plane = trace.plane("/host:CPU")
    names = {key: metadata.name for key, metadata in plane.event_metadata.items()}
    spanned = EXECUTION if any(map(EXECUTION.search, names.values())) else LAUNCH
    seen: Counter[int] = Counter()
    for line in plane.lines:
        spans = [
            (event.offset_ps, event.offset_ps + event.duration_ps)
            for event in line.events
            if spanned.search(names[event.metadata_id])
        ]
        for event in line.events:
            if names[event.metadata_id] != "MemoryAllocation":
                continue
            if any(begin <= event.offset_ps <= end for begin, end in spans):
                stats = stats_of(plane, event.stats)
                seen[int(stats["requested_bytes"])] += 1
    return seen


def bytes_of(requests: Counter[int]) -> int:
    return sum(size * count for size, count in requests.items())


def of_xla(allocations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [allocation for allocation in allocations if "hlo_module" in allocation]


def test_all_that_xla_allocates_is_named_and_nothing_else(runs: Runs) -> None:
    expected = requested_in_executables(runs.profile)
    named = Counter(
        allocation["requested_bytes"] for allocation in of_xla(runs.profile.allocations("alloc"))
    )
    assert sum(named.values()) > 20
    assert not named - expected
    assert bytes_of(expected - named) <= 0.01 * bytes_of(named)


def test_each_way_to_compile_has_the_name_that_a_person_knows(runs: Runs) -> None:
    found = of_xla(runs.profile.allocations("alloc"))
    functions = {allocation["compiled_function"] for allocation in found}
    assert {"one_step_on_data", "my_step"} < functions
    assert any(function.startswith("cluster_") for function in functions)
    for allocation in found:
        launch_op = allocation["launch_op"]
        if allocation["compiled_function"] == "one_step_on_data":
            assert launch_op == "StatefulPartitionedCall"
        elif allocation["compiled_function"] == "my_step":
            assert "my_step" in launch_op
        else:
            assert launch_op.endswith("xla_run")


def test_each_request_is_the_buffer_allocation_that_it_says(runs: Runs) -> None:
    for trace in (runs.profile, runs.snapshot):
        found = of_xla(trace.allocations("alloc"))
        for allocation in found:
            proto = trace.modules[allocation["hlo_program_id"]]
            assert allocation["hlo_module"] == proto.hlo_module.name
            if "buffer_allocation" not in allocation:
                assert allocation["buffer_kind"] == "output"
                continue
            index = allocation["buffer_allocation"]
            (buffer,) = (b for b in proto.buffer_assignment.buffer_allocations if b.index == index)
            assert allocation["requested_bytes"] == buffer.size
            kind = "output" if buffer.maybe_live_out else "temp"
            assert allocation["buffer_kind"] == kind
        placed = sum(a["requested_bytes"] for a in found if "buffer_allocation" in a)
        assert placed > 0.8 * sum(a["requested_bytes"] for a in found)


def held_and_named(dataset: Any, trace: Trace, moment: str) -> tuple[int, int]:
    """Returns what XLA held at a moment, and how much of it is named down to an op."""
    at = (f"--at={moment}", "--rows=100000")
    live = dataset(trace.path, "allocations", *at).get("allocations", [])
    whole = dataset(trace.path, "allocations", *at, "--whole-blocks").get("allocations", [])

    def held(allocations: list[Any]) -> int:
        return sum(int(each["allocatedBytes"]) for each in allocations if each.get("compiled"))

    assert held(live) == held(whole), "what lies in a block adds up to it"
    unnamed = sum(
        int(each["allocatedBytes"])
        for each in live
        if each.get("compiled") and re.search(r"/xla_(temp|output|block)$", each.get("opName", ""))
    )
    return held(live), held(live) - unnamed


def test_what_xla_holds_is_named_down_to_its_ops(runs: Runs, dataset: Any) -> None:
    """In the first step, too, whose new weights lie beside the old ones."""
    for trace in (runs.profile, runs.snapshot, runs.oom):
        for moment in ("peak", "end"):
            held, named = held_and_named(dataset, trace, moment)
            assert named >= 0.99 * held, (trace.path, moment)
            assert held > 0 or moment == "end", trace.path


def test_what_xla_was_refused_is_named_down_to_its_ops(runs: Runs, dataset: Any) -> None:
    held, named = held_and_named(dataset, runs.oom, "oom:0")
    assert named >= 0.99 * held
    (oom, *_) = dataset(runs.oom.path, "oom_window")["ooms"]
    block = oom["block"]
    live = int(block["liveBytes"])
    assert live + int(block.get("unusedBytes", 0)) == int(oom["request"]["requestedBytes"])
    assert int(block["namedBytes"]) >= 0.99 * live


def test_modules_say_how_long_they_took_to_compile(runs: Runs, dataset: Any) -> None:
    # A profile has TensorFlow's own modules and events: in the oldest no event of the compiler.
    traces = [runs.snapshot] + ([runs.profile] if runs.version == "newest" else [])
    for trace in traces:
        modules = dataset(trace.path, "compiled_modules")["modules"]
        took = {module["function"]: int(module.get("compileNs", 0)) for module in modules}
        assert took["one_step_on_data"] > 0
        assert took["my_step"] > 0
        assert all(ns > 0 for function, ns in took.items() if function.startswith("cluster_"))


def test_two_shapes_of_one_function_are_two_modules(runs: Runs) -> None:
    for trace in (runs.profile, runs.snapshot):
        steps = {
            allocation["hlo_program_id"]
            for allocation in of_xla(trace.allocations("alloc"))
            if allocation["compiled_function"] == "one_step_on_data"
        }
        assert len(steps) == 2
        assert steps < set(trace.modules)


def test_a_run_without_a_profile_has_the_modules_of_the_profile(runs: Runs) -> None:
    plane = runs.snapshot.plane("/host:metadata")
    assert stats_of(plane, plane.stats)["modules_left_out"] == 0
    for program, proto in runs.snapshot.modules.items():
        assert proto.hlo_module.name == runs.profile.modules[program].hlo_module.name
        assert proto.buffer_assignment == runs.profile.modules[program].buffer_assignment


def test_an_out_of_memory_in_xla_is_complete_on_disk(runs: Runs) -> None:
    (refused,) = runs.oom.allocations("failed")
    assert refused["compiled_function"] == "one_step_on_data"
    assert refused["buffer_kind"] == "temp"
    proto = runs.oom.modules[refused["hlo_program_id"]]
    sizes = {b.index: b.size for b in proto.buffer_assignment.buffer_allocations}
    assert refused["requested_bytes"] == sizes[refused["buffer_allocation"]]


def test_xprof_opens_the_modules_of_our_run(runs: Runs, run_python: Any, tmp_path: Path) -> None:
    open_in_xprof = ROOT / "tests/xprof/open_modules.py"
    # It writes the modules beside the trace.
    trace = shutil.copy(runs.oom.path, tmp_path)
    opened = run_python(open_in_xprof, trace, PYTHONPATH=str(XPROF))
    assert opened.returncode == 0, opened.stderr
    assert "one_step_on_data" in opened.stdout
