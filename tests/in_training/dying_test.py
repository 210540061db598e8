"""What a job leaves does not depend on whether it survives its out-of-memory."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts/dying.py"
DIES = (-signal.SIGSEGV, -signal.SIGABRT)


class Left:
    """What a job left: its end, and what a reader is told."""

    def __init__(self, done: subprocess.CompletedProcess[str], run: Path, story: str) -> None:
        self.done = done
        self.story = story
        trace = next(run.glob("*.xplane.pb")).read_bytes()
        self.has_all_evidence = b"/oom_forensics:evidence" not in trace

    def lines(self, *beginnings: str) -> list[str]:
        """The lines of the story that begin so, and what keeps most of the memory."""
        told = [line.strip() for line in self.story.splitlines()]
        kept = told[told.index("What keeps it:") + 1 :] if "What keeps it:" in told else []
        large = [line for line in kept if re.match(r"[0-9.]+ MiB in ", line)]
        return [line for line in told if line.startswith(beginnings)] + large


@pytest.fixture(scope="module")
def left(
    run_python: RunPython, command: Command, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Left]:
    """Runs a job and reads what it left."""

    def run(job: str, end: str = "by itself", **environment: str) -> Left:
        logdir = tmp_path_factory.mktemp(job)
        done = run_python(SCRIPT, job, end, OOM_FORENSICS_LOGDIR=str(logdir), **environment)
        (folder,) = logdir.glob("plugins/profile/*_oom")
        told = command("report", "--full", folder)
        assert told.returncode == 0, told.stderr
        return Left(done, folder, told.stdout)

    return run


_NUMBER = re.compile(r"[0-9][0-9,.]*[0-9]|[0-9]")


def words(line: str) -> str:
    """A line without its numbers."""
    return _NUMBER.sub("N", line)


def numbers(line: str) -> list[float]:
    """The numbers of a line."""
    return [float(each.replace(",", "")) for each in _NUMBER.findall(line)]


# oneDNN's own pool, as every Keras job on a CPU has it, and a limit for it.
ONEDNN = {
    "TF_CPU_ALLOCATOR_USE_BFC": "",
    "TF_ENABLE_ONEDNN_OPTS": "1",
    "TF_MKL_ALLOC_MAX_BYTES": str(170 << 20),
}
SMALL = {"TF_CPU_BFC_MEM_LIMIT_IN_MB": "128"}


@pytest.mark.parametrize(("job", "environment"), [("dense", {}), ("compiled", SMALL)])
def test_an_abort_right_after_the_refusal_costs_nothing(
    left: Callable[..., Left], job: str, environment: dict[str, str]
) -> None:
    polite = left(job, **environment)
    assert polite.done.stdout.splitlines()[-1] == "refused", polite.done.stderr
    assert polite.has_all_evidence
    told = polite.lines("who ", "called at", "asked", "Why:", "The whole step needs")
    assert SCRIPT.name in " ".join(told)
    assert any(line.startswith("The whole step needs") for line in told)
    aborted = left(job, "abort", **environment)
    assert aborted.done.returncode in DIES, aborted.done.stderr
    assert aborted.has_all_evidence
    again = aborted.lines("who ", "called at", "asked", "Why:", "The whole step needs")
    assert [words(line) for line in again] == [words(line) for line in told]
    # A small tensor more or less, as threads have it.
    for line, same in zip(again, told, strict=True):
        assert numbers(line) == pytest.approx(numbers(same), rel=0.1, abs=1), line


@pytest.mark.parametrize("job", ["convolutions", "residual", "recurrent"])
def test_a_library_that_does_not_survive_a_refusal_leaves_the_whole_story(
    left: Callable[..., Left], job: str
) -> None:
    """Lines, who keeps the memory, and what the step would have needed."""
    died = left(job, **ONEDNN)
    assert died.done.returncode in DIES, died.done.stderr
    assert died.has_all_evidence
    assert died.lines("Why:")
    assert any(SCRIPT.name in line for line in died.lines("called at"))
    assert "list 'kept' in __main__" in died.story
    assert died.lines("The whole step needs")


def test_a_tensor_that_waits_for_its_memory_is_not_touched(left: Callable[..., Left]) -> None:
    """TensorFlow holds Python's lock then, and does not survive the refusal either."""
    died = left("constant")
    assert died.done.returncode in DIES, died.done.stderr
    assert "keepers" not in died.done.stderr, "we died, not TensorFlow"
    assert died.has_all_evidence
    assert died.lines("Why:")
    assert any(SCRIPT.name in line for line in died.lines("called at", "who ", SCRIPT.name))
    assert "list 'kept' in __main__" in died.story
