"""The live set as a pprof profile.

Read twice: by `pprof` itself, where Go is there to build it, and by the profile.proto
that TensorFlow has for its own pprof profiles.
"""

from __future__ import annotations

import collections
import gzip
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tensorflow.core.profiler import profile_pb2

PPROF = "github.com/google/pprof@v0.0.0-20260906184651-6331bc6350fe"
BUILD_SECONDS = 600


@pytest.fixture(scope="module")
def pprof(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs `pprof`, the installed one or one that Go builds."""
    program = shutil.which("pprof")
    go = shutil.which("go")
    if program is None and go is not None:
        folder = tmp_path_factory.mktemp("pprof")
        subprocess.run(
            [go, "install", PPROF],
            env={**os.environ, "GOBIN": str(folder)},
            timeout=BUILD_SECONDS,
            check=False,
        )
        program = shutil.which("pprof", path=str(folder))
    if program is None:
        pytest.skip("there is neither pprof nor a Go that can build it")

    def run(*arguments: str | Path) -> str:
        done = subprocess.run(
            [program, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def live(export: Any) -> Path:
    path: Path = export("convert", "live.pb.gz", "--format=pprof", "--at=oom:0")
    return path


def profile_of(path: Path) -> Any:
    return profile_pb2.Profile.FromString(gzip.decompress(path.read_bytes()))


def total(profile: Any, value_type: str) -> int:
    types = [profile.string_table[each.type] for each in profile.sample_type]
    index = types.index(value_type)
    return sum(sample.value[index] for sample in profile.sample)


def test_it_holds_the_whole_live_set(live: Path, trace: Path, dataset: Any) -> None:
    profile = profile_of(live)
    answer = dataset(trace, "allocations", "--at=oom:0", "--rows=1")
    assert total(profile, "allocations") == int(answer["totalCount"])
    assert total(profile, "allocated") == int(answer["totalAllocatedBytes"])
    assert total(profile, "requested") == int(answer["totalRequestedBytes"])


def test_the_stack_is_the_op_in_its_scopes(live: Path) -> None:
    profile = profile_of(live)
    text = profile.string_table
    functions = {each.id: text[each.name] for each in profile.function}
    names = {each.id: functions[each.line[0].function_id] for each in profile.location}
    stacks = {tuple(names[each] for each in sample.location_id) for sample in profile.sample}
    in_scopes = ("encoder/wide/MatMul", "encoder/wide", "encoder")
    assert any(stack[:3] == in_scopes for stack in stacks)


def test_the_lines_of_the_program_follow(live: Path) -> None:
    profile = profile_of(live)
    text = profile.string_table
    files = {each.id: text[each.filename] for each in profile.function}
    lines = [line for location in profile.location for line in location.line if line.line]
    assert any(files[line.function_id].endswith("workload.py") for line in lines)


def test_labels_tell_dtype_shape_and_step(live: Path) -> None:
    profile = profile_of(live)
    text = profile.string_table
    labels = collections.defaultdict(set)
    for sample in profile.sample:
        for label in sample.label:
            labels[text[label.key]].add(text[label.str] or label.num)
    assert "float32" in labels["dtype"]
    assert "[512,4096]" in labels["shape"]
    assert {"0", "1", "2", "3"} <= labels["step"]
    assert labels["allocator"] == {"bfc_cpu_allocator_for_gpu#0"}
    assert 512 * 4096 * 4 in labels["bytes"]


def test_a_filter_restricts_it(export: Any, trace: Path, dataset: Any) -> None:
    arguments = ("--at=oom:0", "--scope=encoder/wide")
    profile = profile_of(export("convert", "wide.pb.gz", "--format=pprof", *arguments))
    answer = dataset(trace, "allocations", "--rows=1", *arguments)
    assert total(profile, "allocated") == int(answer["totalAllocatedBytes"]) > 0


def test_pprof_opens_it(live: Path, pprof: Callable[..., str]) -> None:
    top = pprof("-top", "-cum", "-unit=MB", "-nodefraction=0", live)
    (line,) = [each for each in top.splitlines() if each.endswith(" encoder/wide")]
    # Four steps' outputs of 512 x 4096 float32, kept.
    assert line.split()[3] == "32MB"


def test_pprof_selects_by_label(live: Path, pprof: Callable[..., str]) -> None:
    top = pprof("-top", "-unit=MB", "-nodefraction=0", "-tagfocus=step=^3$", live)
    (line,) = [each for each in top.splitlines() if each.endswith(" encoder/wide/MatMul")]
    assert line.split()[0] == "8MB"


def test_pprof_subtracts_two_moments(
    live: Path, export: Any, trace: Path, dataset: Any, pprof: Callable[..., str]
) -> None:
    steps = dataset(trace, "memory_timeline")["series"][0]["steps"]
    second_step = next(each for each in steps if each["step"] == "1")
    before = export("convert", "before.pb.gz", "--format=pprof", f"--at={second_step['beginNs']}")
    top = pprof("-top", "-unit=MB", "-nodefraction=0", f"-diff_base={before}", live)
    (line,) = [each for each in top.splitlines() if each.endswith(" encoder/wide/MatMul")]
    # Of four outputs three came since.
    assert line.split()[0] == "24MB"


def test_pprof_says_what_the_trace_lacks(live: Path, pprof: Callable[..., str]) -> None:
    assert "live set of" in pprof("-comments", live)
