"""A job that runs, watched from another process; and what it keeps before it fails."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

Dataset = Callable[..., Any]
SCRIPT = Path(__file__).parent / "scripts/grow.py"
COMMAND = Path(sys.executable).with_name("oom-forensics")
MIB = 1 << 20


@pytest.fixture(scope="module")
def job(
    bfc_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[str]]:
    """A job that keeps one more MiB at each step, and nothing was said to it."""
    logdir = tmp_path_factory.mktemp("logs")
    with subprocess.Popen(
        [sys.executable, SCRIPT, "100000", "0.5"],
        env={**os.environ, **bfc_environment, "OOM_FORENSICS_LOGDIR": str(logdir)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
        yield process
        process.kill()


def watch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "watch", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_running_job_says_its_use_its_lines_and_when_it_will_not_fit(job: Any) -> None:
    done = watch(str(job.pid), "--json", "--samples=12", "--interval=0.5")
    assert done.returncode == 0, done.stderr
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    first, last = samples[0], samples[-1]
    in_use = [
        next(each["in_use_bytes"] for each in sample["allocators"] if each.get("limit_bytes"))
        for sample in (first, last)
    ]
    assert in_use[1] > in_use[0]
    assert last["step"] > first["step"]
    # A MiB each half of a second at most, 256 MiB in all.
    (trend,) = last["trends"]
    assert 0.2 * MIB < trend["bytes_per_second"] < 2.5 * MIB
    assert 0 < trend["seconds_until_full"] < 1280
    # A step makes one tensor more; what it began with is told by the pool itself.
    (forecast,) = last["forecasts"]
    assert MIB <= forecast["step_bytes"] < 1.5 * MIB
    assert in_use[0] - MIB <= forecast["peak_bytes"] <= in_use[1] + 2 * MIB
    line = SCRIPT.read_text().splitlines().index("        kept.append(weights + float(step))") + 1
    assert last["lines"][0]["key"].split()[0].endswith(f"grow.py:{line}")


def test_it_is_found_by_its_logdir_and_shown_line_by_line(job: Any) -> None:
    logdir = next(
        text.partition(b"=")[2].decode()
        for text in Path(f"/proc/{job.pid}/environ").read_bytes().split(b"\0")
        if text.startswith(b"OOM_FORENSICS_LOGDIR=")
    )
    done = watch(logdir, "--samples=1", "--no-holders")
    assert done.returncode == 0, done.stderr
    assert "of 256.0 MiB in use" in done.stdout
    # Watching leaves no run in the job's own logdir.
    assert list(Path(logdir).rglob("*.xplane.pb")) == []


def metrics_of(pid: int) -> dict[str, list[tuple[dict[str, str], float]]]:
    """What Prometheus reads of one job: by metric, labels and value."""
    with subprocess.Popen(
        [COMMAND, "metrics", "--port=0"],
        stdout=subprocess.PIPE,
        text=True,
        # As in a terminal: what a shell starts in the background does not hear Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            with urllib.request.urlopen(url, timeout=60) as answer:
                text = answer.read().decode()
        finally:
            server.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(timeout=60)
            server.kill()
    assert server.returncode == 0
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.labels.pop("process_pid", "") == str(pid):
                found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_prometheus_reads_every_allocator(job: Any) -> None:
    metrics = metrics_of(job.pid)
    assert [value for _, value in metrics["tensorflow_memory_limit_bytes"]] == [256 * MIB]
    # Before the first one, so that its rate is known.
    assert metrics["tensorflow_memory_out_of_memory_total"] == [({"verdict": "UNKNOWN"}, 0)]


def test_out_of_memories_are_counted_by_the_verdicts_that_their_reports_have(
    bfc_environment: dict[str, str], dataset: Dataset, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, SCRIPT.with_name("refused.py")],
        env={**os.environ, **bfc_environment, "OOM_FORENSICS_LOGDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as job:
        assert job.stdout is not None
        told = [job.stdout.readline().strip() for _ in range(2)]
        metrics = metrics_of(job.pid)
        job.kill()
    assert told == ["in pieces: True", "too much: True"]
    # A run holds the earlier out-of-memories, too: what came after one changes no story.
    stories = [
        [oom["verdict"]["kind"] for oom in dataset(run, "oom_window")["ooms"]]
        for run in sorted(tmp_path.glob("plugins/profile/*_oom*"))
    ]
    assert stories == [["FRAGMENTATION"], ["FRAGMENTATION", "CAPACITY"]]
    verdicts = Counter(story[-1] for story in stories)
    counted = {
        labels["verdict"]: value
        for labels, value in metrics["tensorflow_memory_out_of_memory_total"]
    }
    assert counted == {**verdicts, "UNKNOWN": 0}


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("999999999", "There is no process 999999999."),
        ("/no/such/logdir", "No running job with a collector that reports to /no/such/logdir"),
    ],
)
def test_a_job_that_is_not_there_is_one_sentence(target: str, sentence: str) -> None:
    done = watch(target)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_process_without_a_collector_is_one_sentence() -> None:
    with subprocess.Popen(["sleep", "100"]) as other:
        done = watch(str(other.pid))
        other.kill()
    assert done.returncode == 1
    assert "has no collector, or was started with OOM_FORENSICS_LIVE=0" in done.stderr


def test_a_process_of_another_user_is_one_sentence() -> None:
    # Whoever is not root has at least the first process to try.
    others = [] if os.geteuid() else [subprocess.Popen(["sleep", "100"], user="nobody")]
    pid = others[0].pid if others else 1
    done = watch(str(pid))
    for process in others:
        process.kill()
        process.wait()
    assert done.returncode == 1
    assert done.stderr == f"oom-forensics: Process {pid} belongs to another user.\n"


HANGS_UP = """
import os, socket
listener = socket.socket(socket.AF_UNIX)
listener.bind(f"\\0oom_forensics-{os.getpid()}")
listener.listen()
print(flush=True)
while True:
    listener.accept()[0].close()
"""


def test_a_socket_that_hangs_up_is_one_sentence() -> None:
    with subprocess.Popen([sys.executable, "-c", HANGS_UP], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        done = watch(str(process.pid))
        process.kill()
    assert done.returncode == 1
    assert re.fullmatch(
        rf"oom-forensics: Process {process.pid} has ended(, or serves others)?\.\n", done.stderr
    )


def test_a_socket_of_others_whose_name_is_not_utf8_is_passed_over() -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(b"\0gr\xf6\xdfe")
        done = watch("/no/such/logdir")
    assert done.stderr.startswith("oom-forensics: No running job with a collector")


def test_a_job_that_does_not_answer_is_one_sentence(job: Any) -> None:
    job.send_signal(signal.SIGSTOP)
    done = watch(str(job.pid))
    job.send_signal(signal.SIGCONT)
    assert done.returncode == 1
    assert done.stderr == f"oom-forensics: Process {job.pid} has not answered for 10 s.\n"


def test_watching_ends_with_the_job(bfc_environment: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, SCRIPT, "12", "0.25"],
        env={**os.environ, **bfc_environment, "OOM_FORENSICS_LOGDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        began_s = time.monotonic()
        done = watch(str(process.pid), "--interval=0.2", "--no-holders")
        process.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()
    assert time.monotonic() - began_s < 60


def test_snapshots_are_kept_before_the_job_fails(run_python: Any, tmp_path: Path) -> None:
    done = run_python(
        SCRIPT,
        "100000",
        "0",
        OOM_FORENSICS_LOGDIR=str(tmp_path),
        OOM_FORENSICS_SNAPSHOT_AT="limit:0.9,growth:50",
        TF_CPU_BFC_MEM_LIMIT_IN_MB="128",
    )
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if "; snapshot: " in line]
    assert any("of 128.0 MiB in use" in line for line in told), done.stderr[-2000:]
    assert any("grew in 50 steps in a row" in line for line in told)
    runs = {path.name.rpartition("_")[2] for path in tmp_path.glob("plugins/profile/*")}
    assert runs >= {"snapshot", "oom"}
