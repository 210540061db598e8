"""The real converter as a child process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from waiting import wait_until

from oom_forensics.converter.process import (
    CODE_CANCELLED,
    CODE_INVALID_ARGUMENT,
    CODE_RESOURCE_EXHAUSTED,
    CODE_UNAVAILABLE,
    CODE_UNIMPLEMENTED,
    MAX_WAITING,
    ConverterError,
    ConverterProcess,
    Limits,
    default_limits,
)
from oom_forensics.tensorboard.converter_pool import ConverterPool, TraceVersion

OOM_WINDOW = {"dataset": "OOM_WINDOW"}


@pytest.fixture
def pool() -> Iterator[ConverterPool]:
    pool = ConverterPool(max_open=2)
    yield pool
    pool.close()


@pytest.fixture
def converter(oom_run: Path) -> Iterator[ConverterProcess]:
    converter = ConverterProcess(str(oom_run))
    yield converter
    converter.close()


def children() -> set[int]:
    """The process ids of this process's children, whichever thread began them."""
    return {child.pid for child in psutil.Process().children()}


def test_answers_come_in_the_format_asked_for(converter: ConverterProcess) -> None:
    answer = json.loads(converter.ask(OOM_WINDOW, "json"))
    assert int(answer["ooms"][0]["request"]["requestedBytes"]) > 0
    assert len(converter.ask(OOM_WINDOW, "protobuf")) > 0
    assert converter.ask({"dataset": "ALLOCATIONS"}, "csv").count(b"\n") > 1
    assert converter.progress == 1.0


def test_a_wrong_question_leaves_the_converter_alive(converter: ConverterProcess) -> None:
    with pytest.raises(ConverterError) as failure:
        converter.ask({"dataset": "DATASET_UNSPECIFIED"})
    assert failure.value.code == CODE_UNIMPLEMENTED
    assert converter.ask(OOM_WINDOW)


@pytest.mark.parametrize(
    "query",
    [
        {"columns": -1},
        {"at": {"oom": "x"}},
        {"filter": {"search": "\ud800"}},
        {"columns": float("nan")},
        {"filter": {"search": "x" * (1 << 20)}},
    ],
)
def test_a_malformed_question_is_an_error_of_its_asker_alone(
    converter: ConverterProcess, query: dict[str, Any]
) -> None:
    with pytest.raises(ConverterError) as failure:
        converter.ask({"dataset": "OOM_WINDOW", **query})
    assert failure.value.code == CODE_INVALID_ARGUMENT
    assert converter.ask(OOM_WINDOW)


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
    assert pool.ask(TraceVersion(str(oom_run)), OOM_WINDOW)
    (pid,) = children() - before
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pid not in children())
    assert pool.ask(TraceVersion(str(oom_run)), OOM_WINDOW)


def test_one_that_dies_while_it_answers_says_so(converter: ConverterProcess) -> None:
    os.kill(converter._child.pid, signal.SIGKILL)
    with pytest.raises(ConverterError, match="SIGKILL") as failure:
        converter.ask(OOM_WINDOW)
    assert failure.value.code == CODE_UNAVAILABLE


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


def test_only_the_request_that_nobody_waits_for_is_cancelled(converter: ConverterProcess) -> None:
    os.kill(converter._child.pid, signal.SIGSTOP)
    answers: list[bytes] = []
    failures: list[ConverterError] = []
    gone = threading.Event()

    def wait_for_it() -> None:
        answers.append(converter.ask(OOM_WINDOW))

    def hang_up() -> None:
        with pytest.raises(ConverterError) as failure:
            converter.ask(OOM_WINDOW, still_wanted=lambda: not gone.is_set())
        failures.append(failure.value)

    threads = [threading.Thread(target=wait_for_it), threading.Thread(target=hang_up)]
    for thread in threads:
        thread.start()
    gone.set()
    threads[1].join(timeout=60)
    assert [failure.code for failure in failures] == [CODE_CANCELLED]
    os.kill(converter._child.pid, signal.SIGCONT)
    threads[0].join(timeout=60)
    assert len(answers) == 1


def test_an_interrupt_does_not_shift_the_answers_after_it(converter: ConverterProcess) -> None:
    def interrupt() -> bool:
        raise KeyboardInterrupt

    os.kill(converter._child.pid, signal.SIGSTOP)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            converter.ask({"dataset": "INFO"}, "json", still_wanted=interrupt)
    os.kill(converter._child.pid, signal.SIGCONT)
    for dataset, field in [("OOM_WINDOW", "ooms"), ("ALLOCATIONS", "allocations")]:
        assert field in json.loads(converter.ask({"dataset": dataset}, "json"))


def test_more_questions_than_it_can_hold_are_refused(converter: ConverterProcess) -> None:
    os.kill(converter._child.pid, signal.SIGSTOP)
    done = threading.Event()
    outcomes: list[int] = []

    def ask() -> None:
        try:
            converter.ask({"dataset": "INFO"}, still_wanted=lambda: not done.is_set())
        except ConverterError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=ask) for _ in range(MAX_WAITING + 10)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(outcomes) >= 10)
    assert outcomes == [CODE_UNAVAILABLE] * 10
    done.set()
    for thread in threads:
        thread.join(timeout=60)
    os.kill(converter._child.pid, signal.SIGCONT)


def test_a_parent_that_is_killed_leaves_no_converter_behind(oom_run: Path) -> None:
    script = (
        "import sys, time\n"
        "from oom_forensics.converter.process import ConverterProcess\n"
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
    wait_until(lambda: not converter.exists() or not converter.read_bytes())


def test_many_threads_get_their_own_answers(pool: ConverterPool, oom_run: Path) -> None:
    answers: dict[int, int] = {}

    def ask(limit: int) -> None:
        query = {"dataset": "ALLOCATIONS", "limit": limit}
        body = pool.ask(TraceVersion(str(oom_run)), query, "json")
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
        pool.ask(TraceVersion(path), OOM_WINDOW)
    assert len(children() - before) == 2
    assert pool.progress(traces[0]) is None
    assert pool.progress(traces[2]) == 1.0


def test_all_converters_together_keep_to_a_limit(oom_run: Path) -> None:
    pool = ConverterPool(max_open=4, total_bytes=1)
    before = children()
    (trace,) = oom_run.glob("*.xplane.pb")
    for path in (str(oom_run), str(trace), f"{oom_run}/"):
        pool.ask(TraceVersion(path), OOM_WINDOW)
    assert len(children() - before) == 1
    pool.close()


def test_first_questions_about_many_runs_start_no_more_than_may_be_open(
    oom_run: Path, tmp_path: Path
) -> None:
    (trace,) = oom_run.glob("*.xplane.pb")
    runs = [tmp_path / str(number) for number in range(40)]
    for run in runs:
        run.mkdir()
        (run / trace.name).symlink_to(trace)
    pool = ConverterPool(max_open=4)
    before = children()
    most = 0
    answers: list[bytes] = []
    threads = [
        threading.Thread(
            target=lambda run=run: answers.append(pool.ask(TraceVersion(str(run)), OOM_WINDOW))
        )
        for run in runs
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, len(children() - before))
    assert len(answers) == len(runs)
    assert most <= 4
    pool.close()
    assert not children() - before


def test_a_question_that_waits_too_long_for_a_place_is_told_to_come_again(
    oom_run: Path, tmp_path: Path
) -> None:
    pool = ConverterPool(max_open=1, wait_s=0.3)
    before = children()
    pool.ask(TraceVersion(str(oom_run)), OOM_WINDOW)
    (pid,) = children() - before
    os.kill(pid, signal.SIGSTOP)
    waiting = threading.Thread(target=pool.ask, args=[TraceVersion(str(oom_run)), OOM_WINDOW])
    waiting.start()
    wait_until(lambda: pool._opened[str(oom_run)].users == 1)
    with pytest.raises(ConverterError, match="ask again in a moment") as failure:
        pool.ask(TraceVersion(str(tmp_path)), OOM_WINDOW)
    assert failure.value.code == CODE_UNAVAILABLE
    os.kill(pid, signal.SIGCONT)
    waiting.join(timeout=60)
    pool.close()


def test_a_converter_that_starts_slowly_holds_up_only_those_that_ask_it(
    pool: ConverterPool, oom_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = f"{oom_run}/"
    may_start = threading.Event()
    start = subprocess.Popen.__init__

    def start_slowly(self: subprocess.Popen[bytes], command: list[str], **options: Any) -> None:
        if slow in command:
            may_start.wait(60)
        start(self, command, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", start_slowly)
    answers: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: answers.append(pool.ask(TraceVersion(slow), OOM_WINDOW)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: slow in pool._opened and pool._opened[slow].users == 2)
    assert pool.ask(TraceVersion(str(oom_run)), OOM_WINDOW)
    assert not answers
    may_start.set()
    for thread in threads:
        thread.join(timeout=60)
    assert len(answers) == 2


def test_a_converter_that_nobody_uses_goes(oom_run: Path) -> None:
    pool = ConverterPool(idle_s=0.2)
    before = children()
    pool.ask(TraceVersion(str(oom_run)), OOM_WINDOW)
    wait_until(lambda: not children() - before)
    assert pool.ask(TraceVersion(str(oom_run)), OOM_WINDOW)
    pool.close()


def test_one_that_everyone_left_while_it_was_reading_goes(oom_run: Path, tmp_path: Path) -> None:
    (trace,) = oom_run.glob("*.xplane.pb")
    for host in range(300):  # they take seconds to read
        (tmp_path / f"{host}.xplane.pb").symlink_to(trace)
    pool = ConverterPool(abandoned_s=0.2)
    before = children()
    with pytest.raises(ConverterError):
        pool.ask(TraceVersion(str(tmp_path)), OOM_WINDOW, still_wanted=lambda: False)
    wait_until(lambda: not children() - before)
    pool.close()


def test_a_trace_that_changed_is_read_again(pool: ConverterPool, oom_run: Path) -> None:
    before = children()
    pool.ask(TraceVersion(str(oom_run), 1), OOM_WINDOW)
    old = children() - before
    pool.ask(TraceVersion(str(oom_run), 2), OOM_WINDOW)
    assert (children() - before).isdisjoint(old)


def test_askers_of_an_old_and_a_new_version_do_not_end_each_others_converters(
    pool: ConverterPool, oom_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = subprocess.Popen.__init__

    def count(self: subprocess.Popen[bytes], *args: Any, **options: Any) -> None:
        started.append(args)
        start(self, *args, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", count)
    answers: list[bytes] = []

    def ask(revision: int) -> None:
        for _ in range(10):
            answers.append(pool.ask(TraceVersion(str(oom_run), revision), OOM_WINDOW))

    threads = [threading.Thread(target=ask, args=[number % 2]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(answers) == 80
    assert len(started) <= 2


def test_the_environment_changes_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OOM_FORENSICS_CONVERTER_MEMORY_MIB", "64")
    monkeypatch.setenv("OOM_FORENSICS_CONVERTER_SILENCE_S", "7")
    assert default_limits() == Limits(64 << 20, 7.0)
    monkeypatch.setenv("OOM_FORENSICS_CONVERTER_MEMORY_MIB", "much")
    assert default_limits().memory_bytes >= 1 << 30
