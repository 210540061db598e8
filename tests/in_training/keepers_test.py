"""A report tells which objects of Python keep the memory, by names and lines only."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.recording import LOGDIR, Recording

Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).parent / "scripts/kept.py"
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def recording(record: Callable[..., Recording], same_words: Callable[[str], None]) -> Recording:
    recording = record(SCRIPT, LOGDIR)
    same_words(recording.done.stderr)
    return recording


@pytest.fixture(scope="module")
def logdir(recording: Recording) -> Path:
    return recording.logdir


@pytest.fixture(scope="module")
def done(recording: Recording) -> subprocess.CompletedProcess[str]:
    return recording.done


def keepers(logdir: Path, suffix: str) -> dict[str, int]:
    """Returns chain → bytes."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (trace,) = logdir.glob(f"plugins/profile/*_{suffix}/*.xplane.pb")
    found: dict[str, int] = {}
    for plane in xplane_pb2.XSpace.FromString(trace.read_bytes()).planes:
        if plane.name != "/oom_forensics:source":
            continue
        for record in plane.event_metadata.values():
            if record.name == "keeper":
                stats: list[tuple[str, Any]] = [
                    (plane.stat_metadata[stat.metadata_id].name, stat) for stat in record.stats
                ]
                chain = [stat.str_value for name, stat in stats if name == "chain"]
                size = sum(stat.uint64_value for name, stat in stats if name == "bytes")
                found[" → ".join(chain)] = size
    return found


def line(name: str) -> int:
    text = SCRIPT.read_text().splitlines()
    return next(i for i, each in enumerate(text, start=1) if each.endswith(f"# line: {name}"))


def test_a_leak_of_tapes_is_told_with_the_list_that_keeps_them(
    done: subprocess.CompletedProcess[str], logdir: Path
) -> None:
    assert "out of memory" in done.stdout
    for suffix in ("oom", "snapshot"):
        chain, size = max(keepers(logdir, suffix).items(), key=lambda item: item[1])
        assert chain.startswith("list 'losses' in __main__ (")
        assert chain.endswith(" items) → GradientTape → EagerTensor")
        assert size > 128 * MEBIBYTE


@pytest.mark.parametrize(
    ("chain", "mebibytes"),
    [
        ("ResourceVariable 'weights' in __main__", 4),
        ("Cautious 'cautious' in __main__ → dict 'items' (1 item) → EagerTensor", 3),
        ("function <lambda> (kept.py:{closure}) 'function' in __main__ → EagerTensor", 5),
        ("generator generate (kept.py:{generator}) 'generator' in __main__ → EagerTensor", 6),
        ("EagerTensor 'probabilities' in __main__ → EagerTensor '_keras_logits'", 2),
        (
            "list 'errors' in __main__ (1 item) → exception ValueError → traceback"
            " → frame of fail (kept.py:{failure}) → EagerTensor 'inner'",
            7,
        ),
    ],
)
def test_what_a_variable_leads_to_is_told_by_its_name(
    logdir: Path, chain: str, mebibytes: int
) -> None:
    text = SCRIPT.read_text().splitlines()
    chain = chain.format(
        closure=1 + text.index("    return lambda: captured"),
        generator=1 + text.index("def generate() -> Iterator[Any]:"),
        failure=line("failure"),
    )
    found = keepers(logdir, "snapshot")
    sizes = [size for each, size in found.items() if each.startswith(chain)]
    assert sizes == [mebibytes * MEBIBYTE], found


def test_a_local_variable_of_a_running_function_is_told_with_its_line(logdir: Path) -> None:
    place = f"in until_out_of_memory (kept.py:{line('step')})"
    assert keepers(logdir, "oom")[f"list 'mine' {place} (2 items) → EagerTensor"] == 8 * MEBIBYTE


def test_no_code_of_the_user_runs(done: subprocess.CompletedProcess[str]) -> None:
    assert "ran " not in done.stdout


def test_no_value_of_the_user_is_told(logdir: Path) -> None:
    assert "secret" not in " ".join([*keepers(logdir, "oom"), *keepers(logdir, "snapshot")])


def test_what_was_looked_at_can_be_freed_afterwards(
    done: subprocess.CompletedProcess[str],
) -> None:
    *_, failures, in_use = done.stdout.splitlines()
    assert failures == "[]"
    # The tapes are gone; weights and what the other ways keep are not.
    assert int(in_use.split()[-1]) < 32 * MEBIBYTE


def test_the_report_prints_it(logdir: Path, command: Command) -> None:
    (run,) = logdir.glob("plugins/profile/*_oom")
    told = command("report", run, "--full")
    assert told.returncode == 0, told.stderr
    assert "list 'losses' in __main__" in told.stdout
    assert "kept.py" in told.stdout


def test_a_program_that_lets_go_of_a_failed_attempt_has_its_memory_at_once(
    record: Callable[..., Recording],
) -> None:
    logdir, done = record(
        Path(__file__).parents[1] / "jobs/kept_exception.py",
        "--keep-errors-as-text",
        exit_code=None,
        OOM_FORENSICS_LOGDIR=LOGDIR,
        TF_CPU_BFC_MEM_LIMIT_IN_MB="200",
    )
    assert "largest batch 4096 failed before: [8192]" in done.stdout, done.stderr
    # It was looked into.
    assert list(logdir.glob("plugins/profile/*_oom/*.xplane.pb"))
