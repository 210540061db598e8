"""The metrics in a real Prometheus, and the dashboard's questions asked of it.

Grafana itself is in none of the package registries that tests can use; what is tried is that every
question of its dashboard is one that Prometheus answers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from waiting import free_port

SCRIPT = Path(__file__).parent / "scripts/grow.py"
COMMAND = Path(sys.executable).with_name("oom-forensics")
DASHBOARD = (
    Path(__file__).parents[2] / "plugin/oom_forensics/live/dashboards/tensorflow-memory.json"
)

pytestmark = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="Prometheus is not installed (tools/setup)"
)


def ask(port: int, expression: str) -> Any:
    query = urllib.parse.urlencode({"query": expression})
    url = f"http://127.0.0.1:{port}/api/v1/query?{query}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def test_every_panel_of_the_dashboard_is_answered(
    bfc_environment: dict[str, str], tmp_path: Path
) -> None:
    port = free_port()
    environment = {
        **os.environ,
        **bfc_environment,
        "OOM_FORENSICS_LOGDIR": str(tmp_path / "logs"),
    }
    with (
        subprocess.Popen(
            [sys.executable, SCRIPT, "100000", "0.25"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as job,
        subprocess.Popen(
            [COMMAND, "metrics", "--port=0"], stdout=subprocess.PIPE, text=True
        ) as exporter,
    ):
        assert job.stdout is not None
        assert exporter.stdout is not None
        job.stdout.readline()
        target = urllib.parse.urlparse(exporter.stdout.readline().strip()).netloc
        (tmp_path / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            "scrape_configs:\n"
            f"  - {{job_name: tensorflow, static_configs: [{{targets: ['{target}']}}]}}\n"
        )
        server = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={tmp_path / 'prometheus.yml'}",
                f"--storage.tsdb.path={tmp_path / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wanted = f'tensorflow_memory_full_seconds{{process_pid="{job.pid}"}}'
            found: list[Any] = []
            deadline_s = time.monotonic() + 90
            while not found and time.monotonic() < deadline_s:
                time.sleep(1)
                try:
                    found = ask(port, wanted)["data"]["result"]
                except OSError:
                    continue
            assert found, "Prometheus has not seen the job"
            panels = json.loads(DASHBOARD.read_text())["panels"]
            assert panels
            for panel in panels:
                for each in panel["targets"]:
                    answer = ask(port, each["expr"].replace("$process", str(job.pid)))
                    assert answer["status"] == "success", each
                    assert answer["data"]["result"], each
        finally:
            for process in (server, exporter, job):
                process.kill()
                process.wait()
