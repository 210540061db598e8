"""`oom-forensics doctor`: would an out-of-memory be recorded here, and if not, why.

Looks at what is installed, imports TensorFlow in a child process and asks the
collector there what it hooked.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from oom_forensics import __version__
from oom_forensics.converter.binary import ConverterMissingError, find_converter
from oom_forensics.in_training.collector_library import PATH_IN_SITE_PACKAGES

Severity = Literal["ok", "note", "problem"]
_IMPORT_LIMIT_S = 300


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    severity: Severity
    """ok; note: works, but know this; problem: no data without a change."""
    subject: str
    sentence: str
    details: tuple[str, ...] = ()
    """What the sentence sums up, a line each."""


def main(arguments: Sequence[str]) -> int:
    """Prints the findings; returns 1 where one of them is a problem."""
    parser = argparse.ArgumentParser(
        prog="oom-forensics doctor",
        description="Says whether an out-of-memory would be recorded here.",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    options = parser.parse_args(arguments)
    findings = examine()
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            mark = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}
            print(f"{mark[finding.severity]} {finding.subject}: {finding.sentence}")
            for detail in finding.details:
                print(f"          {detail}")
    return int(any(finding.severity == "problem" for finding in findings))


def examine() -> list[Finding]:
    """Looks at everything that recording and showing an out-of-memory needs."""
    findings = [_package(), _converter()]
    facts, problem = _ask_tensorflow()
    if problem is not None:
        return [*findings, problem]
    findings += tensorflow_findings(facts)
    findings += environment_findings(os.environ, facts)
    return findings


def _package() -> Finding:
    folder = Path(__file__).resolve().parents[1]
    python = platform.python_version()
    return Finding("ok", "package", f"oom-forensics {__version__}, Python {python}, {folder}.")


def _converter() -> Finding:
    try:
        converter = find_converter()
    except ConverterMissingError as error:
        return Finding("problem", "converter", str(error))
    if converter.is_native:
        return Finding("ok", "converter", f"native, {converter.program}.")
    sentence = (
        f"WebAssembly, {converter.program}, run by wasmtime: {converter.why}. It answers the same,"
        " more slowly and within 4 GiB."
    )
    return Finding("ok", "converter", sentence)


def _ask_tensorflow() -> tuple[dict[str, Any], Finding | None]:
    """Imports TensorFlow in a child; returns its facts, or why there are none."""
    command = [sys.executable, "-m", "oom_forensics.cli.doctor_probe"]
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    try:
        child = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_IMPORT_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        sentence = f"`import tensorflow` did not finish within {_IMPORT_LIMIT_S} s."
        return {}, Finding("problem", "TensorFlow", sentence)
    if child.returncode != 0:
        last = (child.stderr.strip().splitlines() or ["no message"])[-1]
        how = f"ended with code {child.returncode}"
        if child.returncode < 0:
            how = f"died of {signal.Signals(-child.returncode).name}"
        sentence = (
            f"`import tensorflow` {how} ({last}); if it works with OOM_FORENSICS=0,"
            " please report this."
        )
        return {}, Finding("problem", "TensorFlow", sentence)
    facts: dict[str, Any] = json.loads(child.stdout.strip().splitlines()[-1])
    if "tensorflowError" in facts:
        sentence = (
            f"not importable by {sys.executable} ({facts['tensorflowError']}); traces"
            " can be analysed here, but recording one needs this package installed"
            " beside TensorFlow."
        )
        return {}, Finding("problem", "TensorFlow", sentence)
    return facts, None


def tensorflow_findings(facts: Mapping[str, Any]) -> list[Finding]:
    """Judges what the child found out about TensorFlow and the collector."""
    folder = facts["tensorflowFolder"]
    findings = [Finding("ok", "TensorFlow", f"{facts['tensorflow']} in {folder}.")]
    if "collector" not in facts:
        return [*findings, _collector_absent(Path(folder).parent)]
    findings.append(Finding("ok", "collector", f"loaded from {facts['collector']}."))
    status = facts["status"]
    if not status.get("enabled", True):
        sentence = "switched off by OOM_FORENSICS=0; unset it to record."
        return [*findings, Finding("problem", "recording", sentence)]
    hooked = bool(status.get("hooked"))
    hooks = tuple(filter(None, str(status.get("hooks", "")).split("\n")))
    findings.append(
        Finding("ok", "hooks", "what is watched of this TensorFlow:", hooks)
        if hooked
        else Finding(
            "problem",
            "hooks",
            "this TensorFlow was not recognized, so nothing was touched.",
            hooks,
        )
    )
    if hooked:
        attribution = status.get("attribution", "")
        findings.append(
            Finding("ok", "op names", "recorded.")
            if attribution == "on"
            else Finding("note", "op names", f"not recorded: {attribution}.")
        )
        compiled = str(status.get("compiledFunctions", ""))
        findings.append(
            Finding("ok", "compiled functions", "what XLA allocates is named.")
            if compiled == "on"
            else Finding("note", "compiled functions", _not_named(compiled))
        )
        findings.append(_source_lines(str(status.get("stacks", ""))))
        findings += _full_tables(status)
    findings.append(_device_memory(facts))
    logdir = status.get("logdir") or "a folder for temporary files, unless a profiler names one"
    sentence = f"an out-of-memory without a profile is reported into {logdir}."
    findings.append(Finding("ok", "flight recorder", sentence))
    findings.append(_black_box(str(status.get("blackBox", "off"))))
    return findings


def _black_box(state: str) -> Finding:
    """Says whether a process that is killed leaves something."""
    if state == "off":
        return Finding("ok", "black box", "switched off (black_box).")
    if state.startswith("off"):
        reason = state.removeprefix("off: ")
        sentence = f"a killed process leaves nothing: {reason}."
        return Finding("note", "black box", sentence)
    folder = Path(state).parent
    return Finding("ok", "black box", f"a killed process leaves its last state in {folder}.")


def _source_lines(state: str) -> Finding:
    if state == "on":
        return Finding("ok", "source lines", "recorded for eager ops.")
    return Finding("note", "source lines", f"not recorded for eager ops: {state}.")


def _full_tables(status: Mapping[str, Any]) -> list[Finding]:
    """Says what the collector had no room for: nothing, in a process that has only begun."""
    findings = []
    if requests := int(status.get("unknownAllocatorRequests", 0)):
        sentence = (
            f"there was no room for another allocator, {requests} requests of further ones"
            " are not recorded."
        )
        findings.append(Finding("problem", "allocators", sentence))
    if unnamed := int(status.get("unnamedAllocations", 0)):
        sentence = f"the table of sites is full, {unnamed} allocations have sizes but no names."
        findings.append(Finding("note", "op names", sentence))
    return findings


def _device_memory(facts: Mapping[str, Any]) -> Finding:
    """Says in which mode memory beside TensorFlow's is watched, and why."""
    status = facts["status"]
    mode, reason = status.get("cuptiMode", "off"), status.get("cuptiReason", "")
    if tee := status.get("cuptiTee"):
        reason += f"; the tee beside TensorFlow's own GPU tracer: {tee}"
    if mode != "off":
        sentence = f"what the CUDA driver hands out is watched in mode {mode}: {reason}."
        return Finding("ok", "device memory", sentence)
    sentence = f"what the CUDA driver hands out is not watched (mode off): {reason}."
    return Finding("note" if facts["gpus"] else "ok", "device memory", sentence)


def _not_named(compiled: str) -> str:
    """Says that allocations of XLA have no names, and why."""
    reason = "; ".join(compiled.removeprefix("off: ").split("\n"))
    return f"XLA's allocations have no names, as XLA was not touched ({reason})."


def _collector_absent(site_packages: Path) -> Finding:
    file = site_packages / PATH_IN_SITE_PACKAGES
    if file.exists():
        sentence = (
            f"{file} is there but TensorFlow did not load it; run `python -c 'import"
            " tensorflow'` and look for a message about it."
        )
    else:
        sentence = (
            f"there is no {file}, where TensorFlow looks for it; run `pip install`"
            " for OOM Forensics in the environment that TensorFlow is in."
        )
    return Finding("problem", "collector", sentence)


def environment_findings(environment: Mapping[str, str], facts: Mapping[str, Any]) -> list[Finding]:
    """Judges what decides which allocator TensorFlow uses."""
    findings = []
    gpus = facts["gpus"]
    if gpus:
        findings.append(Finding("ok", "GPUs", f"{len(gpus)}: {', '.join(gpus)}."))
    elif facts["builtWithCuda"]:
        sentence = "TensorFlow sees none; training runs on the CPU."
        findings.append(Finding("note", "GPUs", sentence))
    gpu_allocator = environment.get("TF_GPU_ALLOCATOR")
    if gpu_allocator in ("cuda_malloc_async", "cuda_malloc"):
        sentence = (
            f"TF_GPU_ALLOCATOR={gpu_allocator}: on a GPU the driver allocates, not"
            " TensorFlow's pool; requests are recorded, but there is no chunk map."
        )
        findings.append(Finding("note", "GPU allocator", sentence))
        if gpus:
            return findings
    if not gpus and environment.get("TF_CPU_ALLOCATOR_USE_BFC") != "1":
        sentence = (
            "on the CPU TensorFlow takes memory from malloc, which has no pool, no"
            " limit and no out-of-memory error to record, only sizes; set"
            " TF_CPU_ALLOCATOR_USE_BFC=1 and TF_CPU_BFC_MEM_LIMIT_IN_MB=<MiB> to try"
            " a limited pool without a GPU."
        )
        findings.append(Finding("note", "allocator", sentence))
    else:
        sentence = "TensorFlow's BFC pool: recorded with every profile."
        findings.append(Finding("ok", "allocator", sentence))
    return findings
