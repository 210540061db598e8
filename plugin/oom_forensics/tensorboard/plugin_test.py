"""The routes in a real TensorBoard, over HTTP."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest
from tensorboard import program
from tensorboard.plugins.core import core_plugin
from waiting import wait_until

from oom_forensics.tensorboard import plugin
from oom_forensics.tensorboard.converter_pool import ConverterPool
from oom_forensics.tensorboard.loader import OomForensicsLoader


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def answering() -> int:
    """How many requests TensorBoard works on: each has a thread of its own."""
    return sum("process_request_thread" in thread.name for thread in threading.enumerate())


def converters(logdir: Path) -> list[int]:
    """The process ids of the converters of a logdir's traces."""
    pids = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended since
            if any(str(logdir) in argument for argument in child.cmdline()):
                pids.append(child.pid)
    return sorted(pids)


class Tab:
    """A TensorBoard that serves a logdir, and a client of our routes in it."""

    def __init__(self, logdir: Path) -> None:
        server = program.TensorBoard(plugins=[core_plugin.CorePluginLoader(), OomForensicsLoader()])
        # TensorBoard's own loader reads with TensorFlow in a thread; where Python ends while it
        # does, pthread_exit() meets a C++ frame that lets nothing through, and the process aborts.
        once = ["--load_fast=false", "--reload_interval=0", "--reload_task=blocking"]
        server.configure(argv=["tensorboard", f"--logdir={logdir}", "--port=0", *once])
        self.url = server.launch()

    def get(
        self, route: str, method: str = "GET", accept_encoding: str = "", **arguments: str
    ) -> Answer:
        url = f"{self.url}data/plugin/oom_forensics/{route}"
        return self.fetch(f"{url}?{urllib.parse.urlencode(arguments)}", method, accept_encoding)

    def fetch(
        self, url: str, method: str = "GET", accept_encoding: str = "", **headers: str
    ) -> Answer:
        if accept_encoding:
            headers["Accept-Encoding"] = accept_encoding
        request = urllib.request.Request(url, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return Answer(response.status, dict(response.headers), response.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read())

    def listed_plugins(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.fetch(f"{self.url}data/plugins_listing").json()
        return answer


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir with one run whose trace is empty."""
    logdir = tmp_path_factory.mktemp("logdir")
    folder = logdir / "train/plugins/profile/first run"
    folder.mkdir(parents=True)
    (folder / "host.xplane.pb").touch()
    (logdir / "secret.txt").write_text("not for the browser")
    return logdir


@pytest.fixture(scope="module")
def tab(logdir: Path) -> Tab:
    return Tab(logdir)


def test_the_tab_is_shown_when_there_is_a_trace(tab: Tab, tmp_path: Path) -> None:
    listed = tab.listed_plugins()["oom_forensics"]
    assert listed["enabled"]
    assert listed["tab_name"] == "OOM Forensics"
    assert listed["loading_mechanism"]["module_path"].endswith("/index.js")
    assert not Tab(tmp_path).listed_plugins()["oom_forensics"]["enabled"]


def test_runs_are_listed_with_their_hosts(tab: Tab) -> None:
    (run,) = tab.get("runs").json()
    assert run["run"] == "train/first run"
    assert run["hosts"] == ["host"]


@pytest.mark.parametrize("name", ["unknown", "../secret.txt", "/etc", "train"])
def test_only_a_listed_run_can_be_asked_about(tab: Tab, name: str) -> None:
    answer = tab.get("data", run=name, query="{}")
    assert answer.status == 404
    assert "reload the page" in answer.json()["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"run": "train/first run"},
        {"run": "train/first run", "query": "[1]"},
        {"run": "train/first run", "query": "{"},
        {"run": "train/first run", "query": "[" * 20000},
        {"run": "train/first run", "query": "{}", "format": "exe"},
    ],
)
def test_a_wrong_question_gets_one_sentence(tab: Tab, arguments: dict[str, str]) -> None:
    answer = tab.get("data", **arguments)
    assert answer.status == 400
    assert answer.json()["error"].count(".") <= 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),  # another port of this machine
        ({"Sec-Fetch-Site": "cross-site", "X-Oom-Forensics-Tab": "1"}, 403),
        ({"User-Agent": "Mozilla/5.0"}, 403),
        ({"User-Agent": "Mozilla/5.0", "X-Oom-Forensics-Tab": "1"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"User-Agent": "curl/8"}, 200),
    ],
)
def test_a_page_of_another_origin_cannot_ask(
    tab: Tab, headers: dict[str, str], status: int
) -> None:
    routes = f"{tab.url}data/plugin/oom_forensics"
    assert tab.fetch(f"{routes}/runs", **headers).status == status
    refused = tab.fetch(f"{routes}/data?run=train/first%20run&query={{}}", **headers)
    assert (refused.status == 403) == (status == 403)
    assert tab.fetch(f"{routes}/index.js", **headers).status == 200


def test_the_tab_only_reads(tab: Tab) -> None:
    assert tab.get("runs", method="POST").status == 405
    assert tab.get("data", method="DELETE").status == 405


@pytest.mark.parametrize("path", ["../datasets.py", "%2e%2e/__init__.py", ""])
def test_static_files_do_not_lead_out_of_their_folder(tab: Tab, path: str) -> None:
    assert tab.get(f"static/{path}").status == 404


def test_answers_may_not_be_sniffed_or_kept(tab: Tab) -> None:
    headers = tab.get("runs").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-cache, must-revalidate"


@pytest.fixture(scope="module")
def oom_tab(oom_logdir: Path) -> Tab:
    return Tab(oom_logdir)


def test_a_dataset_is_passed_through(oom_tab: Tab) -> None:
    run = oom_tab.get("runs").json()[0]
    asked = {"run": run["run"], "query": '{"dataset": "OOM_WINDOW"}'}
    answer = oom_tab.get("data", **asked, format="json")
    assert answer.status == 200
    assert answer.json()["ooms"][0]["verdict"]["kind"] == "FRAGMENTATION"
    assert oom_tab.get("progress", run=run["run"]).json() == {"progress": 1.0}
    table = oom_tab.get("data", run=run["run"], query='{"dataset": "ALLOCATIONS"}', format="csv")
    assert table.headers["Content-Disposition"].startswith("attachment")
    assert "address" in table.body.decode().splitlines()[0]


def test_binary_answers_are_compressed_where_the_browser_takes_it(oom_tab: Tab) -> None:
    run = oom_tab.get("runs").json()[0]
    asked = {"run": run["run"], "query": '{"dataset": "ALLOCATIONS", "limit": 1000}'}
    plain = oom_tab.get("data", **asked)
    small = oom_tab.get("data", accept_encoding="gzip", **asked)
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.body) == plain.body


def test_a_malformed_query_harms_nobody_who_looks_at_the_same_run(
    oom_tab: Tab, oom_logdir: Path
) -> None:
    run = oom_tab.get("runs").json()[0]["run"]
    oom_tab.get("data", run=run, query='{"dataset": "INFO"}')
    before = converters(oom_logdir)
    for query in ('{"columns": -1}', '{"at": {"oom": "x"}}', '{"filter": {"search": "\\ud800"}}'):
        answer = oom_tab.get("data", run=run, query=query)
        assert answer.status == 400, query
        assert answer.json()["error"].count(".") == 1
    assert oom_tab.get("data", run=run, query='{"dataset": "INFO"}').status == 200
    assert converters(oom_logdir) == before


def test_a_question_that_waits_too_long_for_a_converter_is_told_to_come_again(
    oom_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "ConverterPool", partial(ConverterPool, max_open=1, wait_s=0.3))
    for name in ("busy", "waits"):
        (tmp_path / "plugins/profile").mkdir(parents=True, exist_ok=True)
        (tmp_path / "plugins/profile" / name).symlink_to(oom_run)
    tab = Tab(tmp_path)
    busy, waits = sorted(run["run"] for run in tab.get("runs").json())
    query = '{"dataset": "INFO"}'
    assert tab.get("data", run=busy, query=query).status == 200
    (pid,) = converters(tmp_path)
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor() as threads:
        wait_until(lambda: answering() == 0)
        first = threads.submit(tab.get, "data", run=busy, query=query)
        wait_until(lambda: answering() > 0)
        second = tab.get("data", run=waits, query=query)
        os.kill(pid, signal.SIGCONT)
        assert first.result().status == 200
    assert second.status == 503
    assert "ask again in a moment" in second.json()["error"]


def test_a_dataset_that_the_converter_does_not_have_is_told_apart(oom_tab: Tab) -> None:
    run = oom_tab.get("runs").json()[0]
    answer = oom_tab.get("data", run=run["run"], query='{"dataset": "DATASET_UNSPECIFIED"}')
    assert answer.status == 501
    assert "there are" in answer.json()["error"]


def test_an_answer_says_of_which_version_of_the_trace_it_is(oom_tab: Tab) -> None:
    run = oom_tab.get("runs").json()[0]
    answer = oom_tab.get("data", run=run["run"], query='{"dataset": "INFO"}')
    assert answer.headers["X-Oom-Forensics-Trace-Version"] == run["version"]


def test_a_browser_that_hangs_up_ends_only_its_own_work(oom_tab: Tab, oom_logdir: Path) -> None:
    run = oom_tab.get("runs").json()[0]["run"]
    address = urllib.parse.urlsplit(oom_tab.url)
    arguments = urllib.parse.urlencode({"run": run, "query": '{"dataset": "INFO"}'})
    oom_tab.get("data", run=run, query='{"dataset": "INFO"}')
    (converter,) = converters(oom_logdir)
    os.kill(converter, signal.SIGSTOP)
    # The threads of the questions so far end a little after their answers.
    wait_until(lambda: answering() == 0)
    before = answering()
    left = http.client.HTTPConnection(address.hostname or "", address.port)
    left.request("GET", f"/data/plugin/oom_forensics/data?{arguments}")
    with ThreadPoolExecutor() as executor:
        stays = executor.submit(oom_tab.get, "data", run=run, query='{"dataset": "INFO"}')
        wait_until(lambda: answering() == before + 2)
        left.close()
        # Its thread in TensorBoard ends although the converter says nothing.
        wait_until(lambda: answering() == before + 1)
        os.kill(converter, signal.SIGCONT)
        assert stays.result(timeout=60).status == 200
    assert converters(oom_logdir) == [converter]


def test_fifty_browsers_at_once_get_their_answers_and_leave_nothing_behind(
    oom_tab: Tab, oom_logdir: Path, record_property: Callable[[str, object], None]
) -> None:
    run = oom_tab.get("runs").json()[0]["run"]
    oom_tab.get("data", run=run, query='{"dataset": "INFO"}')
    before = (threading.active_count(), converters(oom_logdir))
    waits_s: list[float] = []

    def browse(browser: int) -> None:
        random = Random(browser)
        for _ in range(20):
            limit = random.randrange(1, 400)
            dataset = random.choice(["ALLOCATIONS", "MEMORY_TIMELINE", "FRAGMENTATION"])
            query = json.dumps({"dataset": dataset, "limit": limit, "columns": limit})
            begin = time.monotonic()
            answer = oom_tab.get("data", run=run, query=query, format="json")
            waits_s.append(time.monotonic() - begin)
            assert answer.status == 200
            if dataset == "ALLOCATIONS":
                rows = answer.json()
                assert len(rows["allocations"]) == min(limit, int(rows["totalCount"]))

    with ThreadPoolExecutor(max_workers=50) as executor:
        list(executor.map(browse, range(50)))
    p95_s = sorted(waits_s)[len(waits_s) * 95 // 100]
    record_property("p95_ms", round(p95_s * 1000))
    print(f"1,000 questions of 50 browsers: p95 {p95_s * 1000:.0f} ms")
    assert converters(oom_logdir) == before[1]
    wait_until(lambda: threading.active_count() <= before[0] + 1)


def test_an_empty_trace_is_one_sentence_and_no_crash(tab: Tab) -> None:
    answer = tab.get("data", run="train/first run", query='{"dataset": "INFO"}')
    assert answer.status in (400, 422)
    assert "host.xplane.pb" in answer.json()["error"]
    assert tab.get("runs").status == 200
