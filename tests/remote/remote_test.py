"""Logdirs in an S3 storage: a real server, in a process of its own, and a real out-of-memory.

The job writes there; the command, Python and the tab read there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import oom_forensics
import pytest
from oom_forensics.in_training.evidence.trace_file import recorded_ops
from oom_forensics.logdir.runs import RunList
from oom_forensics.trace import TraceError
from waiting import free_port, wait_until

HERE = Path(__file__).parent
LOGDIR = "s3://logs/project"


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3 server with the bucket "logs", for this process and those it starts."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "OOM_FORENSICS_CACHE": str(tmp_path_factory.mktemp("cache")),
        }.items():
            patch.setenv(name, value)
        try:
            wait_until(lambda: is_served(endpoint))
            request = urllib.request.Request(f"{endpoint}/logs", method="PUT")
            urllib.request.urlopen(request, timeout=60).close()
            yield endpoint
        finally:
            server.kill()
            server.wait()


def is_served(endpoint: str) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"{endpoint}/moto-api/", timeout=60).close()
        return True
    return False


@dataclass(frozen=True)
class Job:
    """What a job left that had a URL for its logdir."""

    folder: Path
    """Where it ran; nothing may appear in it."""
    temporary: Path
    stderr: str


@pytest.fixture(scope="module")
def job(storage: str, run_python: Any, tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("job")
    temporary = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = run_python(
            HERE / "scripts/records_and_ooms.py",
            LOGDIR,
            TMPDIR=str(temporary),
            OOM_FORENSICS_LOGDIR=LOGDIR,
            AWS_ENDPOINT_URL=storage,
        )
    assert done.returncode == 0, done.stderr
    return Job(folder, temporary, done.stderr)


def listed(command: Any, *arguments: str) -> list[dict[str, Any]]:
    done = command("runs", LOGDIR, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    runs: list[dict[str, Any]] = json.loads(done.stdout)
    return runs


def test_a_job_writes_here_first_and_then_there(job: Job, command: Any) -> None:
    runs = listed(command)
    assert [run["run"].rpartition("_")[2] for run in runs] == ["oom", "recording"]
    assert runs[1]["run"].startswith("recorded/")
    for run in runs:
        name = run["run"].rpartition("/")[2]
        (local,) = job.temporary.glob(f"oom_forensics-*/plugins/profile/{name}")
        trace = local / f"{run['hosts'][0]}.xplane.pb"
        assert trace.stat().st_size == run["size_bytes"]
        assert f"copied to {run['folder']}" in job.stderr
    # What Python adds to a run is in the copy: it is made after it.
    assert [op.name for op in recorded_ops(trace)]


def test_no_folder_is_made_of_a_url(job: Job) -> None:
    assert list(job.folder.iterdir()) == []
    assert not any("s3:" in path.name for path in job.temporary.rglob("*"))


@pytest.mark.usefixtures("job")
def test_the_command_reads_the_newest_run_or_the_one_named(command: Any) -> None:
    newest = command("report", LOGDIR)
    assert newest.returncode == 0, newest.stderr
    assert newest.stdout.startswith("Out of memory: ")
    recording = listed(command, "--search=RECORD")[0]
    named = command("info", LOGDIR, f"--run={recording['run']}")
    assert named.returncode == 0, named.stderr
    assert recording["run"].rpartition("/")[2] in named.stdout
    whole = command("info", recording["folder"])
    assert whole.stdout == named.stdout
    compared = command(
        "convert", LOGDIR, "--dataset=compare", f"--other-path={LOGDIR}",
        f"--other-run={recording['run']}",
    )  # fmt: skip
    assert compared.returncode == 0, compared.stderr


@pytest.mark.usefixtures("job")
def test_python_opens_a_url() -> None:
    with oom_forensics.open(LOGDIR) as trace:
        assert trace.oom_window().ooms[0].request.op_name == "Fill"
    with pytest.raises(TraceError, match="There is no run 'none'"):
        oom_forensics.open(LOGDIR, run="none")


@pytest.mark.usefixtures("job")
def test_what_changes_there_is_copied_again(command: Any) -> None:
    import fsspec

    filesystem = fsspec.filesystem("s3")
    run = listed(command)[0]
    source = f"{run['folder']}/{run['hosts'][0]}.xplane.pb".removeprefix("s3://")
    target = "logs/changing/plugins/profile/run/host.xplane.pb"
    filesystem.copy(source, target)
    first = command("info", "s3://logs/changing")
    assert first.returncode == 0, first.stderr
    filesystem.pipe_file(target, b"no trace")
    second = command("info", "s3://logs/changing")
    assert second.returncode == 1


@pytest.fixture(scope="module")
def tensorboard(storage: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a TensorBoard on the URL, without TensorFlow: with it, it refuses s3://."""
    without = tmp_path_factory.mktemp("without")
    (without / "tensorflow.py").write_text("raise ImportError('not installed')\n")
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "tensorboard.main", "--logdir", LOGDIR),
            *("--host=127.0.0.1", "--port=0", "--load_fast=false"),
        ],
        env={**os.environ, "PYTHONPATH": str(without), "S3_ENDPOINT": storage},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        told = iter(server.stderr.readline, "")
        found = (re.search(r"TensorBoard \S+ at (http://\S+?)/? \(", line) for line in told)
        yield next(match[1] for match in found if match)
    finally:
        server.kill()
        server.wait()


@pytest.mark.usefixtures("job")
def test_the_tab_lists_and_shows_the_runs_of_a_url(tensorboard: str, command: Any) -> None:
    def get(route: str, **arguments: str) -> Any:
        query = urllib.parse.urlencode(arguments)
        url = f"{tensorboard}/data/plugin/oom_forensics/{route}?{query}"
        with urllib.request.urlopen(url, timeout=60) as response:
            return json.load(response)

    wait_until(lambda: get("runs"))
    runs = get("runs")
    assert [run["run"] for run in runs] == [run["run"] for run in listed(command)]
    query = json.dumps({"dataset": "OOM_WINDOW"})
    answer = get("data", run=runs[0]["run"], query=query, format="json")
    assert answer["ooms"][0]["request"]["opName"] == "Fill"


@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize("url", ["s3://nowhere/logs", "unheard-of://logs"])
def test_what_cannot_be_read_is_one_sentence(command: Any, url: str) -> None:
    done = command("report", url)
    assert done.returncode == 1
    assert done.stderr.startswith("oom-forensics: ")
    assert done.stderr.count("\n") == 1
    assert url in done.stderr
    assert "Traceback" not in done.stderr


def test_a_url_that_cannot_be_listed_is_told_to_who_asks_for_runs() -> None:
    runs = RunList({"unheard-of://logs": ""})
    assert runs.all(wait_s=60) == []
    assert "unheard-of://logs" in (runs.problem or "")


def test_a_job_whose_url_cannot_be_written_keeps_its_run_here(
    run_python: Any, tmp_path: Path
) -> None:
    script = tmp_path / "snapshot.py"
    script.write_text(
        "import tensorflow as tf, oom_forensics\n"
        "kept = tf.zeros([1024])\n"
        "print(oom_forensics.snapshot('unheard-of://logs').path)\n"
    )
    done = run_python(script, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert folder.is_relative_to(tmp_path)
    assert f"{folder} stays here" in done.stderr
    assert os.listdir(folder)
