"""A job that runs, as a run of the tab: asked of a real TensorBoard."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "scripts/grow.py"


class Tab:
    """What the tab asks of the plugin."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/data/plugin/oom_forensics/"

    def ask(self, route: str, **arguments: str) -> Any:
        url = f"{self._url}{route}?{urllib.parse.urlencode(arguments)}"
        with urllib.request.urlopen(url, timeout=120) as answer:
            return json.load(answer)

    def live_runs(self) -> list[str]:
        return [each["run"] for each in self.ask("runs") if each["live"]]

    def peak_of(self, run: str) -> int:
        """Opens a run, and returns the most bytes of its timeline."""
        query = json.dumps({"dataset": "MEMORY_TIMELINE", "columns": 100})
        timeline = self.ask("data", run=run, query=query, format="json")
        return max(int(series["peak"]["inUseBytes"]) for series in timeline["series"])


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    """A TensorBoard on an empty logdir."""
    logdir = tmp_path / "logs"
    logdir.mkdir()
    command = ["-m", "tensorboard.main", f"--logdir={logdir}", "--port=0", "--host=127.0.0.1"]
    with subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        urls = (re.search(r" at (http://\S+?)/? \(", line) for line in server.stderr)
        yield Tab(next(filter(None, urls))[1])
        server.terminate()


@pytest.fixture
def job(bfc_environment: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A job that keeps more at each step, and reports below the logdir."""
    logdir = tmp_path / "logs/training"
    with subprocess.Popen(
        [sys.executable, SCRIPT, "100000", "0.2"],
        env={**os.environ, **bfc_environment, "OOM_FORENSICS_LOGDIR": str(logdir)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_running_job_is_a_run_that_grows_until_it_ends(
    tab: Tab, job: subprocess.Popen[str], tmp_path: Path
) -> None:
    name = f"live: grow.py ({job.pid})"
    # Of all jobs of this machine only those that report below the logdir.
    assert tab.live_runs() == [name]
    first = tab.peak_of(name)
    deadline_s = time.monotonic() + 60
    while (later := tab.peak_of(name)) == first and time.monotonic() < deadline_s:
        time.sleep(1)
        assert tab.live_runs() == [name]
    assert later > first
    assert job.poll() is None
    # It was looked at where nobody finds it later.
    assert list((tmp_path / "logs").rglob("*.xplane.pb")) == []

    job.kill()
    job.wait()
    while tab.live_runs() and time.monotonic() < deadline_s:
        time.sleep(1)
    assert tab.live_runs() == []
    with pytest.raises(urllib.error.HTTPError) as refused:
        tab.peak_of(name)
    assert refused.value.code == 404
    assert json.load(refused.value)["error"] == f"The job of {name!r} has ended; reload the page."
    assert list(tmp_path.glob("oom_forensics_live_*/*")) == []
