"""`oom-forensics doctor`, with the package as installed beside a real TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oom_forensics.cli.doctor import Finding, environment_findings, tensorflow_findings
from oom_forensics.in_training.collector_library import PATH_IN_SITE_PACKAGES


def doctor(**environment: str) -> dict[str, str]:
    """Runs the doctor; returns the lines by subject, and its exit code."""
    command = Path(sys.executable).with_name("oom-forensics")
    child = subprocess.run(
        [command, "doctor"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {line[8:].split(":")[0]: line for line in child.stdout.splitlines()}
    return {**lines, "exit code": str(child.returncode)}


def problems(findings: list[Finding]) -> list[str]:
    return [finding.subject for finding in findings if finding.severity == "problem"]


@pytest.fixture
def facts(tmp_path: Path) -> dict[str, Any]:
    """The facts of an environment in which all is well."""
    return {
        "tensorflow": "2.21.0",
        "tensorflowFolder": str(tmp_path / "tensorflow"),
        "builtWithCuda": False,
        "gpus": [],
        "collector": str(tmp_path / "tensorflow-plugins/collector.so"),
        "status": {
            "hooked": True,
            "hooks": "BFCAllocator: hooked",
            "attribution": "on",
            "compiledFunctions": "on",
            "stacks": "on",
        },
    }


def test_a_stock_tensorflow_is_hooked_after_pip_install() -> None:
    said = doctor()
    assert said["collector"].startswith("ok")
    assert said["hooks"].startswith("ok")
    assert max(len(line) for line in said.values()) < 300, "an item is a line"
    assert said["op names"].startswith("ok")
    assert "mode " in said["device memory"]
    assert said["exit code"] == "0"


def test_switched_off_is_a_problem_that_names_the_switch() -> None:
    said = doctor(OOM_FORENSICS="0")
    assert said["recording"].startswith("PROBLEM")
    assert "OOM_FORENSICS=0" in said["recording"]
    assert said["exit code"] == "1"


def test_the_cpu_allocator_without_a_pool_is_explained() -> None:
    assert "TF_CPU_ALLOCATOR_USE_BFC=1" in doctor()["allocator"]
    assert doctor(TF_CPU_ALLOCATOR_USE_BFC="1")["allocator"].startswith("ok")


def test_a_python_whose_frames_are_not_known_is_noted(facts: dict[str, Any]) -> None:
    facts["status"]["stacks"] = "off: the frames of Python 3.99 are not known"
    (finding,) = [each for each in tensorflow_findings(facts) if each.subject == "source lines"]
    assert finding.severity == "note"
    assert "3.99" in finding.sentence


def test_all_well_has_no_problem(facts: dict[str, Any]) -> None:
    assert problems(tensorflow_findings(facts)) == []


@pytest.mark.parametrize(
    ("state", "severity", "says"),
    [
        ("/logs/worker-12.oombox", "ok", "a killed process leaves its last state in /logs."),
        (
            "off: /tmp: no room",
            "note",
            "a killed process leaves nothing: /tmp: no room.",
        ),
        ("off", "ok", "switched off (black_box)."),
    ],
)
def test_it_is_said_whether_a_killed_process_leaves_something(
    facts: dict[str, Any], state: str, severity: str, says: str
) -> None:
    facts["status"]["blackBox"] = state
    (box,) = [f for f in tensorflow_findings(facts) if f.subject == "black box"]
    assert (box.severity, box.sentence) == (severity, says)


def test_a_gpu_whose_driver_is_not_watched_is_noted(facts: dict[str, Any]) -> None:
    facts["gpus"] = ["/physical_device:GPU:0"]
    facts["status"] |= {"cuptiMode": "off", "cuptiReason": "no libcupti.so.12"}
    (note,) = [f for f in tensorflow_findings(facts) if f.severity == "note"]
    assert "no libcupti.so.12" in note.sentence


def test_a_collector_that_is_not_installed_says_where_it_belongs(
    facts: dict[str, Any], tmp_path: Path
) -> None:
    del facts["collector"]
    findings = tensorflow_findings(facts)
    assert problems(findings) == ["collector"]
    assert str(tmp_path / "tensorflow-plugins") in findings[-1].sentence
    assert "pip install" in findings[-1].sentence


def test_a_collector_that_tensorflow_refused_is_told_apart(
    facts: dict[str, Any], tmp_path: Path
) -> None:
    del facts["collector"]
    (tmp_path / PATH_IN_SITE_PACKAGES).parent.mkdir(parents=True)
    (tmp_path / PATH_IN_SITE_PACKAGES).touch()
    (problem,) = [f for f in tensorflow_findings(facts) if f.severity == "problem"]
    assert "did not load it" in problem.sentence


def test_an_unrecognized_tensorflow_is_a_problem_with_its_reason(
    facts: dict[str, Any],
) -> None:
    facts["status"] = {"hooked": False, "hooks": "BFCAllocator: no such symbol"}
    (problem,) = [f for f in tensorflow_findings(facts) if f.severity == "problem"]
    assert problem.details == ("BFCAllocator: no such symbol",)


def test_what_the_collector_had_no_room_for_is_said(facts: dict[str, Any]) -> None:
    facts["status"] |= {"unknownAllocatorRequests": 12, "unnamedAllocations": 3}
    said = {each.subject: each.sentence for each in tensorflow_findings(facts)}
    assert "12 requests" in said["allocators"]
    assert "3 allocations" in said["op names"]


def test_an_xla_that_is_not_recognized_is_one_sentence(facts: dict[str, Any]) -> None:
    why = "modules of compiled functions: where their ids lie is not recognized; not touched"
    facts["status"]["compiledFunctions"] = f"off: {why}"
    (note,) = [f for f in tensorflow_findings(facts) if f.subject == "compiled functions"]
    assert note.severity == "note"
    assert why in note.sentence


@pytest.mark.parametrize("name", ["cuda_malloc_async", "cuda_malloc"])
def test_the_drivers_allocator_is_noted(facts: dict[str, Any], name: str) -> None:
    facts["gpus"] = ["/physical_device:GPU:0"]
    (_, allocator) = environment_findings({"TF_GPU_ALLOCATOR": name}, facts)
    assert allocator.severity == "note"
    assert f"TF_GPU_ALLOCATOR={name}:" in allocator.sentence


def test_without_a_gpu_both_allocators_are_told_of(facts: dict[str, Any]) -> None:
    findings = environment_findings({"TF_GPU_ALLOCATOR": "cuda_malloc"}, facts)
    assert [finding.subject for finding in findings][-2:] == ["GPU allocator", "allocator"]
