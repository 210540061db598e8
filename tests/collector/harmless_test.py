"""The collector changes nothing: not the numbers, not the allocator, not the job's end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
AlteredTensorflow = Callable[..., AbstractContextManager[str]]
SCRIPTS = Path(__file__).parent / "scripts"
STATUS = """
import ctypes, json, tensorflow as tf
from oom_forensics.in_training.collector_library import CollectorLibrary
print(float(tf.reduce_sum(tf.ones([3]))))
print(json.dumps(CollectorLibrary.loaded().status()))
"""


def test_losses_and_seeds_are_equal_to_the_bit(run_python: RunPython, tmp_path: Path) -> None:
    without = run_python(SCRIPTS / "train.py", OOM_FORENSICS="0")
    installed = run_python(SCRIPTS / "train.py")
    recorded = run_python(SCRIPTS / "train.py", tmp_path)
    assert without.returncode == 0, without.stderr
    assert len(without.stdout.splitlines()) == 11
    assert installed.stdout == without.stdout
    assert recorded.stdout == without.stdout


def test_tensorflow_chooses_the_allocator_that_it_would_have_chosen(
    run_python: RunPython,
) -> None:
    answers = [
        run_python(
            SCRIPTS / "default_allocator.py", TF_CPU_ALLOCATOR_USE_BFC="", OOM_FORENSICS=switch
        )
        for switch in ("0", "1")
    ]
    assert answers[0].returncode == 0, answers[0].stderr
    assert answers[0].stdout == answers[1].stdout
    assert "Allocator" in answers[0].stdout


def test_threads_forks_workers_and_broken_sessions(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python(SCRIPTS / "everything_at_once.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "everything done" in done.stdout
    for number in range(2):
        assert list(tmp_path.glob(f"session{number}/plugins/profile/*/*.xplane.pb"))


def filled_shapes(command: Command, logdir: Path) -> set[str]:
    """The shapes of what tf.fill() made and is alive when the run ends."""
    asked = ["--dataset=allocations", "--at=end", "--search=Fill", "--format=json"]
    answer = command("convert", logdir, *asked)
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(answer.stdout)["allocations"]
    return {",".join(row["shape"]) for row in rows if row["shape"]}


def test_a_profile_during_a_recording_leaves_both_whole(
    run_python: RunPython, command: Command, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "overlapping.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a recording is already running" in done.stdout
    assert not (tmp_path / "second").exists()
    assert {"100,100", "200,100"} <= filled_shapes(command, tmp_path / "record")
    assert {"100,100", "200,100", "300,100"} <= filled_shapes(command, tmp_path / "profile")


def test_a_profile_captured_over_the_network_during_a_recording_leaves_both_whole(
    run_python: RunPython, command: Command, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "captured.py", tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    recorded = filled_shapes(command, tmp_path / "record")
    assert {"100,100", "200,100"} <= recorded
    assert "300,100" not in recorded
    assert {"100,100", "200,100"} <= filled_shapes(command, tmp_path / "profile")


def test_children_of_fork_train_and_run_out_of_memory(
    run_python: RunPython, command: Command, tmp_path: Path
) -> None:
    done = run_python(SCRIPTS / "forked_training.py", tmp_path)
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout.splitlines()[-1])
    assert ends == [0] * len(ends), done.stderr
    for child in ["first", *(f"child{number}" for number in range(len(ends) - 1)), "parent"]:
        (out_of_memory,) = tmp_path.glob(f"{child}/plugins/profile/*_oom")
        told = command("report", out_of_memory)
        assert "1.17 GiB" in told.stdout, told.stderr


def test_switched_off_nothing_is_hooked(run_python: RunPython, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(STATUS)
    done = run_python(script, OOM_FORENSICS="0")
    status = json.loads(done.stdout.splitlines()[-1])
    assert not status["enabled"]
    assert not status["hooked"]
    assert "OOM Forensics" not in done.stderr


def test_a_tensorflow_whose_tables_differ_is_not_touched(
    run_python: RunPython, altered_tensorflow: AlteredTensorflow, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(STATUS)
    with altered_tensorflow(shorten="_ZTVN3tsl12BFCAllocatorE") as path:
        done = run_python(script, PYTHONPATH=path)
    assert done.stdout.splitlines()[0] == "3.0", done.stderr
    status = json.loads(done.stdout.splitlines()[-1])
    assert "tsl::BFCAllocator: its virtual table does not hold" in status["hooks"]


def test_a_tensorflow_with_other_annotations_is_recorded_without_names(
    run_python: RunPython, altered_tensorflow: AlteredTensorflow, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(STATUS)
    prefix = "_ZN3tsl8profiler27ScopedMemoryDebugAnnotationC2E"
    with altered_tensorflow(hide_prefix=prefix) as path:
        done = run_python(script, PYTHONPATH=path)
    assert done.stdout.splitlines()[0] == "3.0", done.stderr
    status = json.loads(done.stdout.splitlines()[-1])
    assert status["hooked"]
    assert status["attribution"].startswith("off: this TensorFlow's memory annotations")
    assert done.stderr.count("recorded without op names") == 1
