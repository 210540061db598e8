"""What is left of jobs that die without a word: killed by the kernel, by a signal, by themselves.

The kernel's kill is real where this machine lets a cgroup of memory be made, of version 1 or 2,
as root. Where it does not, the test says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jupyter_client.manager import KernelManager
from oom_forensics.tensorboard.loader import OomForensicsLoader
from tensorboard import program
from tensorboard.plugins.core import core_plugin

SCRIPTS = Path(__file__).parent / "scripts"
COMMAND = [sys.executable, "-m", "oom_forensics"]
CGROUPS = Path("/sys/fs/cgroup")
MIB = 1 << 20
# So long at most a job of these tests may run on a busy machine.
TIMEOUT_S = 240


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("OOM_F")},
        "TMPDIR": str(tmp_path),
        "OOM_FORENSICS_LOGDIR": str(tmp_path / "logs"),
        "OOM_FORENSICS_HOST": "1",
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def new_cgroup(name: str) -> tuple[Path, str]:
    """Returns the folder of a cgroup that can be made here, and the name of its limit's file."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return CGROUPS / "memory" / path.strip("/") / name, "memory.limit_in_bytes"
    # Version 2: the top, because a cgroup that has processes cannot limit its children's memory.
    return CGROUPS / name, "memory.max"


@pytest.fixture
def cgroup(tmp_path: Path) -> Iterator[Path]:
    """A cgroup of 600 MiB; the machine's own limit stays far away."""
    folder, limit_file = new_cgroup(f"oom_forensics_{tmp_path.name}_{os.getpid()}")
    with contextlib.ExitStack() as cleanup:
        try:
            folder.mkdir()
            cleanup.callback(folder.rmdir)
            (folder / limit_file).write_text(str(600 * MIB))
        except OSError as error:
            pytest.skip(f"no cgroup of memory can be made here: {error}")
        yield folder


def run_job(
    arguments: list[str], environment: dict[str, str], cgroup: Path | None = None
) -> subprocess.CompletedProcess[str]:
    join = "" if cgroup is None else f"echo $$ > {cgroup}/cgroup.procs; "
    return subprocess.run(
        ["sh", "-c", join + 'exec "$@"', "sh", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def grow(
    environment: dict[str, str], *arguments: str, cgroup: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return run_job([sys.executable, str(SCRIPTS / "grow.py"), *arguments], environment, cgroup)


def limited(
    limit: str, mib: int, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Runs grow.py or another script under a limit of its own: `ulimit -v` or `-d`."""
    kib = str(mib * 1024)
    return run_job(
        ["sh", "-c", f'ulimit -{limit} {kib}; exec "$@"', "sh", sys.executable, *arguments],
        environment,
    )


def ask(environment: dict[str, str], *arguments: str) -> str:
    answer = subprocess.run(
        [*COMMAND, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def host_memory(environment: dict[str, str]) -> dict[str, Any]:
    answer: dict[str, list[dict[str, Any]]] = json.loads(
        ask(
            environment,
            "convert",
            environment["OOM_FORENSICS_LOGDIR"],
            "--dataset=host_memory",
            "--format=json",
        )
    )
    (series,) = answer["series"]
    return series


def line_of(script: str, text: str) -> int:
    lines = (SCRIPTS / script).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def kinds(series: dict[str, Any]) -> list[str]:
    return [part["kind"] for part in series["verdict"]["parts"]]


def unexplained(series: dict[str, Any]) -> float:
    """Returns which part of the process's own memory nothing explains, at its last sample."""
    last = {
        part: int(bytes_)
        for part, bytes_ in zip(series["parts"], series["columns"][-1]["partBytes"], strict=True)
    }
    own = sum(last.values()) - last["files"] - last["shared"]
    return last["unexplained"] / own


def test_report_names_the_line_that_grew_until_the_kernel_killed_the_job(
    environment: dict[str, str], cgroup: Path
) -> None:
    ended = grow(environment, cgroup=cgroup)
    assert ended.returncode == -signal.SIGKILL, ended.stderr

    report = ask(environment, "report", environment["OOM_FORENSICS_LOGDIR"])

    assert "The kernel killed the process (SIGKILL)" in report
    assert f"{cgroup} may use 600.0 MiB" in report
    assert "HOST_KILLED" in report
    assert "a second" in report
    assert "of arrays and tensors were kept by list 'history' in __main__ (" in report
    made = line_of("grow.py", "np.ones")
    assert f"line {made} of grow.py (`return np.ones((512, 512), np.float32)`)" in report
    # The box is a run now, once.
    assert not list(Path(environment["OOM_FORENSICS_LOGDIR"]).glob("*.oombox"))
    series = host_memory(environment)
    assert series["end"]["kind"] == "kernel"
    assert int(series["limitBytes"]) == 600 * MIB
    assert kinds(series) == ["HOST_KILLED", "HOST_GROWTH"]
    largest = series["holders"][0]
    assert largest["line"]["line"] == made
    # 1 MiB each, all of them kept: what the limit leaves beside TensorFlow itself.
    assert 100 * MIB < int(largest["bytes"]) < 600 * MIB
    last = series["columns"][-1]
    assert int(last["usedBytes"]) > 0.9 * 600 * MIB
    assert unexplained(series) < 0.1


@pytest.mark.parametrize(
    ("mode", "code", "kind"),
    [
        ("kill", -signal.SIGKILL, {"unknown"}),
        # Where the kernel's log can be read, it names the signal.
        ("segv", -signal.SIGSEGV, {"unknown", "signal"}),
        ("abort", -signal.SIGABRT, {"abort"}),
        ("exit", 3, {"exit_call"}),
    ],
)
def test_a_death_that_is_not_of_memory_is_told_with_what_was_held(
    environment: dict[str, str], mode: str, code: int, kind: set[str]
) -> None:
    assert grow(environment, mode, "100").returncode == code

    series = host_memory(environment)

    assert series["end"]["kind"] in kind
    assert kinds(series) == ["NOT_MEMORY"]
    largest = series["holders"][0]
    assert largest["line"]["line"] == line_of("grow.py", "np.ones")
    assert 90 * MIB < int(largest["bytes"]) < 110 * MIB


# The number that the remedy's code has.
ADVISED = "the number that is advised"


class Killed(NamedTuple):
    """A job that the kernel kills, and what its report has to say."""

    cause: str
    kind: str
    # What the sentence of that kind says, in this order.
    sentence: tuple[str, ...]
    remedy: str
    # The line of the program that it names has this; empty: it names none.
    line: str = ""
    # The argument with which the job does as it was told, and lives; empty: that is not tried.
    cure: str = ""
    # NumPy and Python are watched, not what is watched always.
    watched: bool = False


KILLED = (
    Killed(
        "retracing",
        "RETRACING",
        (
            "The function train_step was traced ",
            "The argument that changes is rate: 0.0",
        ),
        "stop_retracing",
        "train_step(x, tf.constant(rate)",
        "cured",
    ),
    Killed(
        "compiled",
        "COMPILE_CACHE",
        ("XLA compiled the function embed at ", " times and keeps every version"),
        "fewer_compilations",
        "embed(tf.ones([length",
        "cured",
    ),
    Killed(
        "shuffle",
        "PIPELINE_BUFFER",
        (
            "The dataset's shuffle() at ",
            "keeps up to 2,000 elements of 1.00 MiB, 1.95 GiB together",
            " tensors of that size were live at the end",
        ),
        "smaller_buffer",
        "images.shuffle(",
        ADVISED,
    ),
    Killed(
        "cache",
        "PIPELINE_BUFFER",
        ("The dataset's cache() at ", "keeps all elements, of 1.00 MiB each"),
        "smaller_buffer",
        "else images.cache()",
        "cured",
    ),
    Killed(
        "parallel",
        "PIPELINE_BUFFER",
        ("The dataset's parallel map() at ", "keeps up to 16 elements of 36.0 MiB"),
        "smaller_buffer",
        "num_parallel_calls=int(CURED or 16)",
        ADVISED,
    ),
    Killed(
        "save",
        "CHECKPOINT",
        ("died inside Model.save() at ",),
        "save_in_place",
        "model.save(",
        "cured",
    ),
    Killed(
        "malloc",
        "HELD_BY_MALLOC",
        ("were freed by the program and are still held by malloc",),
        "trim_malloc",
        cure="cured",
    ),
    Killed(
        "workers",
        "OTHER_PROCESSES",
        ("did not belong to this process, but to other processes of the cgroup",),
        "fewer_workers",
    ),
    Killed(
        "models",
        "RETRACING",
        ("was traced ", "the function itself is created again"),
        "stop_retracing",
        "results.append(model.fit(",
    ),
    Killed(
        "tensors",
        "HOST_GROWTH",
        ("makes stays in memory: ", " blocks, ", " a second more"),
        "release_host_growth",
        "tf.nn.relu(",
    ),
    Killed(
        "predict",
        "HOST_GROWTH",
        ("makes stays in memory: ", " blocks, ", " a second more"),
        "release_host_growth",
        "features.append(model.predict(",
        watched=True,
    ),
    Killed(
        "data_set",
        "HOST_DATA_SET",
        ("was made as a whole at ",),
        "stream_data_set",
        "images = np.ones(",
        watched=True,
    ),
)


@pytest.mark.parametrize("job", KILLED, ids=lambda job: job.cause)
def test_a_killed_job_is_told_with_its_cause_its_line_and_a_cure_that_holds(
    job: Killed, environment: dict[str, str], cgroup: Path
) -> None:
    if not job.watched:
        del environment["OOM_FORENSICS_HOST"]
    run = [sys.executable, str(SCRIPTS / "host_causes.py"), job.cause]
    ended = run_job(run, environment, cgroup)
    assert ended.returncode == -signal.SIGKILL, ended.stderr

    series = host_memory(environment)

    assert series["verdict"]["kind"] == "HOST_KILLED"
    assert unexplained(series) < 0.1, series["columns"][-1]
    # What explains the others comes first.
    part = series["verdict"]["parts"][1]
    assert part["kind"] == job.kind, series["verdict"]
    rest = part["sentence"]
    for words in job.sentence:
        assert words in rest, part["sentence"]
        rest = rest.partition(words)[2]
    if job.line:
        line = line_of("host_causes.py", job.line)
        assert f"line {line} of host_causes.py" in part["sentence"]
        assert series["remedies"][0]["line"]["line"] == line
    assert series["remedies"][0]["kind"] == job.remedy
    if job.cure:
        cure = job.cure
        if cure == ADVISED:
            cure = "".join(filter(str.isdigit, series["remedies"][0]["code"]))
        cured = run_job([*run, cure], environment, cgroup)
        assert cured.returncode == 0, cured.stderr


@pytest.mark.parametrize(
    ("limit", "mib", "name"),
    [("v", 3800, "RLIMIT_AS, 3.71 GiB"), ("d", 1000, "RLIMIT_DATA, 1000.0 MiB")],
)
def test_a_memory_error_that_ends_a_job_is_told_with_its_own_limit_and_its_line(
    limit: str, mib: int, name: str, environment: dict[str, str]
) -> None:
    ended = limited(limit, mib, environment, str(SCRIPTS / "grow.py"))
    assert ended.returncode == 1
    assert "MemoryError" in ended.stderr

    series = host_memory(environment)

    assert series["end"]["kind"] == "memory_error"
    assert f"its own limit ({name}) refused memory" in series["end"]["sentence"]
    assert kinds(series) == ["HOST_LIMIT", "HOST_GROWTH"]
    # Not what Python has let go of since.
    assert int(series["holders"][0]["bytes"]) > 100 * MIB
    assert series["holders"][0]["line"]["line"] == line_of("grow.py", "np.ones")


def test_a_job_that_crashes_at_its_own_limit_is_told_with_its_cause(
    environment: dict[str, str],
) -> None:
    script = str(SCRIPTS / "host_causes.py")
    assert limited("v", 3800, environment, script, "retracing").returncode < 0
    series = host_memory(environment)
    assert series["end"]["kind"] in ("signal", "abort", "unknown")
    assert kinds(series)[:2] == ["HOST_LIMIT", "RETRACING"]


def test_a_job_that_catches_its_memory_errors_leaves_nothing(
    environment: dict[str, str], tmp_path: Path
) -> None:
    ended = limited("v", 3800, environment, str(SCRIPTS / "grow.py"), "caught")
    assert (ended.returncode, "caught" in ended.stdout) == (0, True), ended.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_job_that_is_asked_to_end_while_memory_is_not_short_leaves_nothing(
    number: signal.Signals, environment: dict[str, str], tmp_path: Path
) -> None:
    assert grow(environment, "asked", "20", str(int(number))).returncode == -number
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_job_that_is_asked_to_end_while_memory_is_short_is_told(
    environment: dict[str, str], cgroup: Path
) -> None:
    ended = grow(environment, "asked", "320", str(int(signal.SIGTERM)), cgroup=cgroup)
    assert ended.returncode == -signal.SIGTERM
    series = host_memory(environment)
    assert series["end"]["kind"] == "asked"
    assert (
        "was asked to end (SIGTERM or Ctrl-C) while memory was short" in series["end"]["sentence"]
    )
    assert series["holders"][0]["line"]["line"] == line_of("grow.py", "np.ones")


def test_as_installed_the_growth_is_told_with_its_list_and_how_to_learn_its_line(
    environment: dict[str, str], cgroup: Path
) -> None:
    del environment["OOM_FORENSICS_HOST"]
    assert grow(environment, cgroup=cgroup).returncode == -signal.SIGKILL
    report = ask(environment, "report", environment["OOM_FORENSICS_LOGDIR"])
    assert "HOST_KILLED" in report
    assert "HOST_GROWTH" in report
    assert "of arrays and tensors were kept by list 'history' in __main__ (" in report
    assert "the program was at line " in report
    assert "start the program with `oom-forensics run -- python ...`" in report


@pytest.mark.parametrize("host", ["0", "1"])
@pytest.mark.parametrize("mode", ["well", "exit_well", "raise", "children"])
def test_a_job_that_ends_by_itself_leaves_nothing(
    mode: str, host: str, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["OOM_FORENSICS_HOST"] = host
    ended = grow(environment, mode, "10")
    assert ended.returncode == (1 if mode == "raise" else 0), ended.stderr
    assert "OOM Forensics" not in ended.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_worker_that_is_forked_neither_spoils_nor_keeps_the_box(
    environment: dict[str, str],
) -> None:
    assert grow(environment, "kill_with_child", "100").returncode == -signal.SIGKILL
    series = host_memory(environment)
    largest = series["holders"][0]
    assert largest["line"]["line"] == line_of("grow.py", "np.ones")
    # What the child made is not the parent's.
    assert 90 * MIB < int(largest["bytes"]) < 110 * MIB


def test_a_worker_that_is_forked_while_python_looks_comes_to_its_end(
    environment: dict[str, str], cgroup: Path
) -> None:
    ended = grow(environment, "fork_while_short", "90", cgroup=cgroup)
    assert ended.returncode == 0, ended.stderr


def test_a_job_that_ends_while_python_looks_waits_for_it_for_seconds_only(
    environment: dict[str, str], cgroup: Path, tmp_path: Path
) -> None:
    ended = grow(environment, "end_while_short", "90", cgroup=cgroup)
    assert ended.returncode == 0, ended.stderr
    assert "looks" in ended.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_next_start_makes_a_run_of_it_and_says_where(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert grow(environment, "kill", "50").returncode == -signal.SIGKILL
    assert len(list(tmp_path.rglob("*.oombox"))) == 1
    again = grow(environment, "wait")
    (run,) = (tmp_path / "logs/plugins/profile").iterdir()
    assert f"an earlier process died without a word: oom-forensics report {run}" in again.stderr
    assert list(tmp_path.rglob("*.oombox")) == []


_FILLS_A_NOTEBOOK = """
import time
import numpy as np
import tensorflow as tf
kept = []
while True:
    kept.append(np.ones((512, 512), np.float32))
    time.sleep(0.004)
"""


def run_cell(manager: KernelManager, code: str) -> str:
    """Returns what the cell printed until it ended, or its kernel died."""
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=TIMEOUT_S)
        cell = client.execute(code)
        printed = ""
        while manager.is_alive():
            with contextlib.suppress(queue.Empty):
                message = client.get_iopub_msg(timeout=1)
                if message["parent_header"].get("msg_id") != cell:
                    continue
                printed += message["content"].get("text", "")
                if message["content"].get("execution_state") == "idle":
                    break
        return printed
    finally:
        client.stop_channels()


def test_a_notebook_that_starts_its_kernel_again_says_of_what_the_last_one_died(
    environment: dict[str, str], cgroup: Path
) -> None:
    manager = KernelManager()
    assert manager.kernel_spec is not None
    join = f'echo $$ > {cgroup}/cgroup.procs; exec "$@"'
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.kernel_spec.argv = ["sh", "-c", join, "sh", *launch]
    manager.start_kernel(env=environment)
    try:
        run_cell(manager, _FILLS_A_NOTEBOOK)
        assert not manager.is_alive()
        manager.restart_kernel(now=True)
        printed = run_cell(manager, "import tensorflow, time; time.sleep(3)")
    finally:
        manager.shutdown_kernel(now=True)
    said = "OOM Forensics: an earlier process died without a word: oom-forensics report "
    assert said in printed
    report = ask(environment, "report", printed.partition(said)[2].split("\n")[0])
    assert "HOST_KILLED" in report
    assert "makes stays in memory: " in report
    assert "were kept by list 'kept' in __main__ (" in report


def test_a_crash_by_an_out_of_memory_is_told_by_the_run_of_that(
    environment: dict[str, str],
) -> None:
    logdir = environment["OOM_FORENSICS_LOGDIR"]
    small = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_CPU_BFC_MEM_LIMIT_IN_MB": "128"}
    script = SCRIPTS.parents[1] / "in_training/scripts/dying.py"
    died = run_job([sys.executable, str(script), "dense", "abort"], {**environment, **small})
    assert died.returncode in (-signal.SIGABRT, -signal.SIGSEGV), died.stderr
    report = ask(environment, "report", logdir)
    assert report.startswith("Out of memory: ")
    assert ask(environment, "runs", logdir).count("_oom") == 1
    assert "_death" not in ask(environment, "runs", logdir)
    assert list(Path(logdir).glob("*.oombox")) == []


# A disk and a folder for temporary files of one's own, for one process. $0 is where, the rest the
# program. So much is left on the disk, in KiB.
_FULL_DISK = """
dd if=/dev/zero of="$0/image" bs=1M count=3 2> /dev/null &&
mkfs.ext4 -q -F "$0/image" && mkdir -p "$0/disk" &&
mount -o loop "$0/image" "$0/disk" && mount -t tmpfs tmpfs /var/tmp || exit 77
exec "$@"
"""
_READ_ONLY = """
mkdir -p "$0/disk" && mount -t tmpfs -o ro tmpfs "$0/disk" &&
mount -t tmpfs -o ro tmpfs /var/tmp || exit 77
exec "$@"
"""


@pytest.mark.parametrize(
    ("folders", "why"),
    [(_FULL_DISK, "No space left on device"), (_READ_ONLY, "Read-only file system")],
    ids=["full disk", "read-only folders"],
)
def test_where_no_box_can_be_kept_one_sentence_says_so_and_the_job_runs(
    folders: str, why: str, environment: dict[str, str], tmp_path: Path
) -> None:
    environment |= {"TMPDIR": str(tmp_path / "disk"), "OOM_FORENSICS_LOGDIR": ""}
    job = [sys.executable, str(SCRIPTS / "grow.py"), "well", "20"]
    ended = run_job(["unshare", "-m", "sh", "-c", folders, str(tmp_path), *job], environment)
    if ended.returncode == 77 or "unshare" in ended.stderr:
        pytest.skip(f"no file system can be mounted here: {ended.stderr}")
    assert ended.returncode == 0, ended.stderr
    (said,) = [line for line in ended.stderr.splitlines() if "OOM Forensics" in line]
    assert "if this process is killed, it leaves no black box: /" in said
    assert why in said


def test_few_open_files_and_threads_are_enough_for_the_job(environment: dict[str, str]) -> None:
    job = [sys.executable, str(SCRIPTS / "grow.py"), "threads", "20"]
    ended = run_job(["sh", "-c", 'ulimit -n 40; exec "$@"', "sh", *job], environment)
    assert ended.returncode == 0, ended.stderr


def test_a_box_that_cannot_be_read_is_one_sentence_and_stays(
    environment: dict[str, str],
) -> None:
    assert grow(environment, "kill", "20").returncode == -signal.SIGKILL
    logdir = Path(environment["OOM_FORENSICS_LOGDIR"])
    (box,) = logdir.glob("*.oombox")
    box.write_bytes(box.read_bytes()[:100_000])
    answer = run_job([*COMMAND, "recover", str(logdir)], environment)
    assert answer.returncode == 0
    (said,) = answer.stderr.splitlines()
    assert said.startswith(f"oom-forensics: {box} is cut off: 100000 of ")
    assert box.exists()


def test_run_tells_the_story_at_once_and_passes_the_exit_code_on(
    environment: dict[str, str],
) -> None:
    # It switches the watch on by itself.
    del environment["OOM_FORENSICS_HOST"]
    job = [*COMMAND, "run", "--", sys.executable, str(SCRIPTS / "grow.py")]
    killed = run_job([*job, "segv", "50"], environment)
    assert killed.returncode == 128 + signal.SIGSEGV
    assert "The process was ended by SIGSEGV." in killed.stderr
    assert "grow.py" in killed.stderr
    assert run_job([*job, "exit", "10"], environment).returncode == 3
    well = run_job([*job, "well", "10"], environment)
    assert well.returncode == 0
    assert "oom-forensics" not in well.stderr


def test_run_passes_signals_on(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", "--", sys.executable, "-c", _WAITS],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == "SIGUSR1\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 128 + signal.SIGTERM


_WAITS = """
import os, signal, time
# Not print(), which may not be called within itself: the signal may come before it returns.
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"SIGUSR1\\n"))
print("ready", flush=True)
while True:
    time.sleep(1)
"""


def test_the_tab_lists_a_job_that_was_killed_and_tells_of_it(environment: dict[str, str]) -> None:
    assert grow(environment, "kill", "50").returncode == -signal.SIGKILL
    server = program.TensorBoard(plugins=[core_plugin.CorePluginLoader(), OomForensicsLoader()])
    logdir = environment["OOM_FORENSICS_LOGDIR"]
    once = ["--load_fast=false", "--reload_interval=0", "--reload_task=blocking"]
    server.configure(argv=["tensorboard", f"--logdir={logdir}", "--port=0", *once])
    routes = server.launch() + "data/plugin/oom_forensics"

    def get(route: str, **arguments: str) -> Any:
        with urllib.request.urlopen(
            f"{routes}/{route}?{urllib.parse.urlencode(arguments)}", timeout=60
        ) as answer:
            return json.load(answer)

    (run,) = get("runs")
    assert run["run"].endswith("_death")
    memory = get("data", run=run["run"], query='{"dataset": "HOST_MEMORY"}', format="json")
    (series,) = memory["series"]
    assert kinds(series) == ["NOT_MEMORY"]
    assert series["holders"][0]["line"]["line"] == line_of("grow.py", "np.ones")
    # The command lists the same.
    assert run["run"] in ask(environment, "runs", logdir)
