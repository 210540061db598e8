"""CSV of every dataset, and the exit codes for CI."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from oom_forensics.cli import rehearse

POOL_LIMIT = "TF_CPU_BFC_MEM_LIMIT_IN_MB"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("info", "hosts.allocators.peak_in_use_bytes"),
        ("memory_timeline", "in_use_max_bytes"),
        ("allocations", "allocated_bytes"),
        ("fragmentation", "size_bytes"),
        ("oom_window", "request.requested_bytes"),
        ("steps", "survivor_bytes"),
    ],
)
def test_every_line_of_a_csv_has_the_columns_of_its_header(
    trace: Path, command: Any, name: str, column: str
) -> None:
    done = command("convert", trace, f"--dataset={name}", "--format=csv", "--at=oom:0")
    assert done.returncode == 0, done.stderr
    header, *lines = csv.reader(io.StringIO(done.stdout))
    assert any(each.endswith(column.rpartition(".")[2]) for each in header), header
    assert lines
    assert {len(line) for line in lines} == {len(header)}


def test_allocations_in_csv_are_those_in_json(trace: Path, command: Any, dataset: Any) -> None:
    arguments = ("--at=oom:0", "--rows=10000")
    done = command("convert", trace, "--dataset=allocations", "--format=csv", *arguments)
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    answer = dataset(trace, "allocations", *arguments)
    assert [line["address"] for line in lines] == [
        each["address"] for each in answer["allocations"]
    ]
    assert [line["op_name"] for line in lines] == [each["opName"] for each in answer["allocations"]]


@pytest.mark.parametrize(("conditions", "code"), [("oom", 3), ("probe", 0), ("probe,oom", 3)])
def test_fail_on_tells_ci(trace: Path, command: Any, conditions: str, code: int) -> None:
    done = command("report", trace, f"--fail-on={conditions}")
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith("Out of memory: ")
    assert ("--fail-on=oom is met" in done.stderr) == (code == 3)


def test_an_unknown_condition_is_wrong_usage(trace: Path, command: Any) -> None:
    done = command("report", trace, "--fail-on=rain")
    assert done.returncode == 2
    assert '"rain" is not one of oom, probe, leak, near-limit, lost' in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "what-if PATH --limit-bytes=16GiB",
            "what-if has no flag --limit-bytes; see what-if --help.",
        ),
        ("info PATH --full", "info has no flag --full; see info --help."),
        (
            "convert PATH --dataset=allocations --limit=100",
            "--limit applies to --dataset=forecast alone.",
        ),
        ("report PATH PATH", "report takes one PATH."),
        (
            "forecast PATH --limit=much",
            '--limit: "much" is not a size, as 1048576, 1MiB or 1.5GiB.',
        ),
    ],
)
def test_a_flag_that_does_not_apply_is_wrong_usage(
    trace: Path, command: Any, words: str, sentence: str
) -> None:
    done = command(*(trace if word == "PATH" else word for word in words.split()))
    assert done.returncode == 2
    assert done.stderr == f"oom-forensics: {sentence}\n"


def test_each_command_has_its_own_help_and_the_shell_completes_it(command: Any) -> None:
    assert "--growth" not in command("report", "--help").stdout
    assert "--growth" in command("what-if", "--help").stdout
    completed = subprocess.run(
        ["bash", "-c", 'eval "$1"; COMP_LINE="x what-if --gr" COMP_POINT=14 COMP_CWORD=2\n'
         'COMP_WORDS=(x what-if --gr); _oom_forensics; echo "${COMPREPLY[*]}"', "bash",
         command("completion", "bash").stdout],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert completed.stdout == "--growth=\n"


def test_an_unknown_format_is_wrong_usage(trace: Path, command: Any) -> None:
    done = command("convert", trace, "--format=flamegraph")
    assert done.returncode == 2
    assert "pprof, folded, perfetto" in done.stderr


def test_sizes_and_times_are_taken_as_people_write_them(
    trace: Path, command: Any, dataset: Any
) -> None:
    in_bytes = dataset(trace, "allocations", "--at=oom:0", "--min-bytes=1048576")
    assert dataset(trace, "allocations", "--at=oom:0", "--min-bytes=1MiB") == in_bytes
    assert in_bytes["totalCount"]
    when = dataset(trace, "oom_window")["ooms"][0]["timeNs"]
    told = command("report", trace, "--full").stdout
    (time,) = [line.split(maxsplit=1)[1] for line in told.splitlines() if line.startswith("  when")]
    written = time[: time.index("UTC") + 3]
    whole_us = str(int(when) // 1000 * 1000)
    assert dataset(trace, "allocations", f"--at={written}") == dataset(
        trace, "allocations", f"--at={whole_us}"
    )
    for flag in ("--min-bytes=much", "--from=noon", "--at=noon"):
        wrong = command("convert", trace, "--dataset=allocations", flag)
        assert wrong.returncode == 2, flag
        assert wrong.stderr.count("\n") == 1


def test_two_runs_are_compared(trace: Path, command: Any) -> None:
    done = command("convert", trace, "--dataset=compare", f"--other-path={trace.parent}")
    assert done.returncode == 0, done.stderr
    missing = command("convert", trace, "--dataset=compare", "--other-path=/nowhere")
    assert missing.returncode == 1
    assert "/nowhere" in missing.stderr


def test_the_runs_of_a_logdir_are_listed(trace: Path, command: Any) -> None:
    logdir = trace.parents[3]
    newest = command("runs", logdir).stdout.split()[0]
    assert newest in command("info", logdir).stdout, "the same run is the newest of both"
    assert command("runs", logdir, "--search=no such run").returncode == 1


def test_runs_says_of_what_is_no_folder_that_it_cannot_be_read(command: Any) -> None:
    done = command("runs", "/nowhere")
    assert done.returncode == 1
    assert done.stderr == "oom-forensics: Cannot read /nowhere: No such file or directory.\n"


def test_a_program_that_is_not_there_cannot_be_rehearsed(command: Any) -> None:
    done = command("rehearse", "--limit=1GiB", "--", "no-such-program")
    assert done.returncode == 1
    assert done.stderr == (
        "oom-forensics: no-such-program cannot be run: No such file or directory.\n"
    )


def test_an_old_run_is_not_rehearsed_for_a_program_that_failed(
    trace: Path, command: Any, tmp_path: Path
) -> None:
    old = tmp_path / "plugins/profile/old"
    old.mkdir(parents=True)
    (old / "host.xplane.pb").write_bytes(trace.read_bytes())
    flags = ("rehearse", "--limit=1GiB", f"--logdir={tmp_path}", "--", sys.executable, "-c")
    done = command(*flags, "raise SystemExit(7)")
    assert done.returncode == 7
    assert "ended with exit code 7 and left no recording" in done.stderr
    assert "Recorded in" not in done.stdout
    assert command(*flags, "pass").returncode == 1


def test_the_pool_of_a_rehearsal_has_room_in_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearse, "usable_bytes", lambda: 1000 << 20)
    seen = tmp_path / "seen"
    program = f"import os; open({str(seen)!r}, 'w').write(os.environ[{POOL_LIMIT!r}])"
    rehearse.main(["--limit=1GiB", f"--logdir={tmp_path}", "--", sys.executable, "-c", program])
    assert seen.read_text() == "900"


def test_the_exit_code_of_a_rehearsed_program_that_failed_is_passed_on(
    command: Any, tmp_path: Path
) -> None:
    program = "import tensorflow as tf; tf.ones([64]) + 1; raise SystemExit(9)"
    done = command(
        "rehearse", "--limit=1GiB", f"--logdir={tmp_path}", "--", sys.executable, "-c", program
    )
    assert done.returncode == 9
    assert "Recorded in" in done.stdout
    assert "failed with exit code 9" in done.stderr


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """Runs the command as a person does; returns its exit code and what was shown."""
    master, terminal = os.openpty()
    child = subprocess.Popen(
        [Path(sys.executable).with_name("oom-forensics"), *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(master, 4096):
            shown += part
    os.close(master)
    return child.wait(), shown.decode()


def test_a_terminal_gets_no_bytes_that_it_cannot_show(trace: Path) -> None:
    for arguments in (
        ("convert", str(trace), "--format=pprof"),
        ("convert", str(trace), "--dataset=info", "--format=pb"),
        ("serve", str(trace)),
    ):
        code, shown = on_a_terminal(*arguments)
        assert code == 2
        assert shown.startswith("oom-forensics: ")
        assert shown.count("\n") == 1
    code, shown = on_a_terminal("info", str(trace))
    assert code == 0
    assert "reading the trace: " in shown
