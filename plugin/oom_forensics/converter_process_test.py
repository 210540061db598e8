"""The real converter as a child process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from oom_forensics.converter_pool import ConverterPool
from oom_forensics.converter_process import (
    CODE_ABORTED,
    CODE_RESOURCE_EXHAUSTED,
    CODE_UNAVAILABLE,
    CODE_UNIMPLEMENTED,
    ConverterError,
    ConverterProcess,
    Limits,
    default_limits,
)

OOM_WINDOW = {"dataset": "OOM_WINDOW"}


@pytest.fixture
def pool() -> Iterator[ConverterPool]:
    pool = ConverterPool(max_open=2)
    yield pool
    pool.close()


def children() -> set[int]:
    task = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    everyone = Path("/proc/self/task").glob("*/children")
    return {int(pid) for file in {task, *everyone} for pid in file.read_text().split()}


def test_answers_come_in_the_format_asked_for(oom_run: Path) -> None:
    converter = ConverterProcess(str(oom_run))
    answer = json.loads(converter.ask(OOM_WINDOW, "json"))
    assert int(answer["ooms"][0]["request"]["requestedBytes"]) > 0
    assert len(converter.ask(OOM_WINDOW, "protobuf")) > 0
    assert converter.ask({"dataset": "ALLOCATIONS"}, "csv").count(b"\n") > 1
    assert converter.progress == 1.0
    converter.close()


def test_a_wrong_question_leaves_the_converter_alive(oom_run: Path) -> None:
    converter = ConverterProcess(str(oom_run))
    with pytest.raises(ConverterError) as failure:
        converter.ask({"dataset": "DATASET_UNSPECIFIED"})
    assert failure.value.code == CODE_UNIMPLEMENTED
    assert converter.ask(OOM_WINDOW)
    converter.close()


def test_a_trace_that_cannot_be_read_gets_one_sentence(tmp_path: Path) -> None:
    trace = tmp_path / "host.xplane.pb"
    trace.write_bytes(b"\xff" * 100)
    converter = ConverterProcess(str(trace))
    with pytest.raises(ConverterError) as failure:
        converter.ask(OOM_WINDOW)
    assert str(failure.value).strip().count("\n") == 0
    assert "host.xplane.pb" in str(failure.value)
    converter.close()


def test_a_converter_that_is_killed_is_started_again(pool: ConverterPool, oom_run: Path) -> None:
    before = children()
    assert pool.ask(str(oom_run), 1, OOM_WINDOW)
    (pid,) = children() - before
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert pool.ask(str(oom_run), 1, OOM_WINDOW)


def test_one_that_dies_while_it_answers_says_so(oom_run: Path) -> None:
    converter = ConverterProcess(str(oom_run))
    os.kill(converter._child.pid, signal.SIGKILL)
    with pytest.raises(ConverterError, match="SIGKILL") as failure:
        converter.ask(OOM_WINDOW)
    assert failure.value.code == CODE_UNAVAILABLE
    converter.close()


def test_one_that_is_silent_for_too_long_is_stopped(oom_run: Path) -> None:
    converter = ConverterProcess(str(oom_run), Limits(1 << 30, silence_s=0.5))
    os.kill(converter._child.pid, signal.SIGSTOP)
    with pytest.raises(ConverterError, match="without an answer") as failure:
        converter.ask(OOM_WINDOW)
    assert failure.value.code == CODE_RESOURCE_EXHAUSTED
    assert not converter.alive
    converter.close()


def test_one_that_needs_too_much_memory_ends_with_a_sentence(oom_run: Path) -> None:
    converter = ConverterProcess(str(oom_run), Limits(1 << 20, silence_s=60))
    with pytest.raises(ConverterError) as failure:
        converter.ask(OOM_WINDOW)
    assert "memory" in str(failure.value)
    converter.close()


def test_work_can_be_cancelled(oom_run: Path) -> None:
    converter = ConverterProcess(str(oom_run))
    os.kill(converter._child.pid, signal.SIGSTOP)
    failures: list[ConverterError] = []

    def ask() -> None:
        try:
            converter.ask(OOM_WINDOW)
        except ConverterError as error:
            failures.append(error)

    waiting = threading.Thread(target=ask)
    waiting.start()
    time.sleep(0.2)
    converter.cancel()
    waiting.join(timeout=10)
    assert [failure.code for failure in failures] == [CODE_ABORTED]
    converter.close()


def test_a_parent_that_is_killed_leaves_no_converter_behind(oom_run: Path) -> None:
    script = (
        "import sys, time\n"
        "from oom_forensics.converter_process import ConverterProcess\n"
        "converter = ConverterProcess(sys.argv[1])\n"
        "converter.ask({'dataset': 'INFO'})\n"
        "print(converter._child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, oom_run], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    converter = Path(f"/proc/{int(parent.stdout.readline())}/cmdline")
    assert b"serve" in converter.read_bytes()
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 60
    while converter.exists() and converter.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not converter.exists() or not converter.read_bytes()


def test_many_threads_get_their_own_answers(pool: ConverterPool, oom_run: Path) -> None:
    answers: dict[int, int] = {}

    def ask(limit: int) -> None:
        query = {"dataset": "ALLOCATIONS", "limit": limit}
        body = pool.ask(str(oom_run), 1, query, "json")
        answers[limit] = len(json.loads(body)["allocations"])

    threads = [threading.Thread(target=ask, args=[limit]) for limit in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {limit: limit for limit in range(1, 21)}


def test_the_least_used_converter_is_dropped(pool: ConverterPool, oom_run: Path) -> None:
    before = children()
    (trace,) = oom_run.glob("*.xplane.pb")
    traces = [str(oom_run), str(trace), f"{oom_run}/"]
    for path in traces:
        pool.ask(path, 1, OOM_WINDOW)
    assert len(children() - before) == 2
    assert pool.progress(traces[0]) is None
    assert pool.progress(traces[2]) == 1.0


def test_a_trace_that_changed_is_read_again(pool: ConverterPool, oom_run: Path) -> None:
    before = children()
    pool.ask(str(oom_run), "old", OOM_WINDOW)
    old = children() - before
    pool.ask(str(oom_run), "new", OOM_WINDOW)
    assert (children() - before).isdisjoint(old)


def test_the_environment_changes_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OOM_FORENSICS_CONVERTER_MEMORY_MIB", "64")
    monkeypatch.setenv("OOM_FORENSICS_CONVERTER_SILENCE_S", "7")
    assert default_limits() == Limits(64 << 20, 7.0)
    monkeypatch.setenv("OOM_FORENSICS_CONVERTER_MEMORY_MIB", "much")
    assert default_limits().memory_bytes >= 1 << 30
