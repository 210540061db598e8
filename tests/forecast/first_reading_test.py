"""Who reads a run first makes the forecast of its refused step; the job that died makes none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from oom_forensics.in_training.evidence import trace_file
from oom_forensics.in_training.step_forecast import recorded
from oom_forensics.logdir import first_reading
from recordings.jobs import recorded_demo

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts/large_constant.py"


@pytest.fixture(scope="module")
def logdir(run_python: RunPython, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the job left, and nobody has read."""
    logdir = tmp_path_factory.mktemp("job") / "logdir"
    done = run_python(SCRIPT, OOM_FORENSICS_LOGDIR=str(logdir), TF_CPU_BFC_MEM_LIMIT_IN_MB="80")
    assert done.stdout == "refused\n", done.stderr
    return logdir


@pytest.fixture
def trace(logdir: Path, tmp_path: Path) -> Path:
    """A copy of it, for each test its own."""
    shutil.copytree(logdir, tmp_path / "logdir")
    (trace,) = tmp_path.glob("logdir/plugins/profile/*_oom/*.xplane.pb")
    return trace


def forecasts(trace: Path) -> int:
    return list(trace_file.plane_names(trace)).count("/oom_forensics:forecast")


def test_the_job_leaves_the_step_and_its_first_reader_the_forecast(
    trace: Path, command: Command
) -> None:
    assert forecasts(trace) == 0
    written_ns = trace.stat().st_mtime_ns
    (step,) = recorded.steps_in(trace)
    assert step.allocator == "bfc_cpu_allocator_for_gpu#0"
    first = command("report", "--full", trace.parents[3])
    assert "The whole step needs" in first.stdout, first.stderr
    assert forecasts(trace) == 1
    assert trace.stat().st_mtime_ns == written_ns, "it is no newer run"
    assert recorded.steps_in(trace) == []
    content = trace.read_bytes()
    again = command("report", "--full", trace.parents[3])
    assert again.stdout == first.stdout
    assert trace.read_bytes() == content


def test_it_is_made_under_the_variables_that_the_job_had() -> None:
    """The demo switches oneDNN off: TensorFlow's own convolutions lay out patches."""
    (trace,) = recorded_demo("capacity").logdir.glob("plugins/profile/*_oom/*.xplane.pb")
    (plane,) = trace_file.plane_headers(trace, trace_file.FORECAST)
    assert "is_scratch" in {stat.name for stat in plane.stat_metadata.values()}


def test_a_constant_is_kept_as_its_size(trace: Path, command: Command) -> None:
    value = np.full([1024], 2.5, np.float32).tobytes()
    assert value not in trace.read_bytes()
    assert "The whole step needs" in command("report", "--full", trace).stdout


def test_of_two_readers_at_once_one_makes_it(trace: Path) -> None:
    readers = [
        subprocess.Popen([sys.executable, "-m", "oom_forensics", "report", str(trace)])
        for _ in range(2)
    ]
    assert [reader.wait() for reader in readers] == [0, 0]
    assert forecasts(trace) == 1


def test_without_tensorflow_it_says_what_is_missing_and_tells_the_rest(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where it is not installed.
    monkeypatch.setattr("importlib.util.find_spec", {}.get)
    told = first_reading.complete(trace)
    assert told == "The forecast of the refused step needs TensorFlow, which is not installed here."
    assert forecasts(trace) == 0


def test_a_damaged_step_does_not_stop_a_reader(trace: Path, command: Command) -> None:
    content = trace.read_bytes()
    at = content.index(b'{"arguments"')
    trace.write_bytes(content[:at] + b"[" * 12 + content[at + 12 :])
    done = command("report", "--full", trace)
    assert done.returncode == 0
    assert "The forecast of the refused step could not be made" in done.stderr
    assert "open the run where TensorFlow is installed" in done.stdout
    assert "Who held the memory" in done.stdout
