"""Runs a demo job, prints the report of its OOM and serves the tab."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from waiting import free_port, wait_until

from demos.job import EXIT_OUT_OF_MEMORY

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
STORIES = ("fragmentation", "leak", "capacity", "float64", "compiled")
_STEPS = 4
_HEARTBEAT_S = 5
_START_LIMIT_S = 60


class DemoError(Exception):
    """The demo did not do what it shows; the message says what went wrong."""


def say(step: int, text: str) -> None:
    """Prints a line of progress."""
    print(f"\n[demo {step}/{_STEPS}] {text}", flush=True)


def train_into_oom(story: str, logdir: Path) -> None:
    """Runs a job until it is out of memory."""
    say(1, f"Training '{story}' in 256 MiB until it runs out of memory")
    print("  (TensorFlow tries the allocation again for 10 s before it gives up)", flush=True)
    command = [sys.executable, "-m", f"demos.{story}", "--logdir", str(logdir)]
    begin = time.monotonic()
    job = subprocess.Popen(command)
    while True:
        try:
            code = job.wait(timeout=_HEARTBEAT_S)
            break
        except subprocess.TimeoutExpired:
            print(f"  {time.monotonic() - begin:.0f} s", flush=True)
    if code != EXIT_OUT_OF_MEMORY:
        raise DemoError(f"the job was to run out of memory but ended with {code}")


def print_report(logdir: Path) -> None:
    """Prints what `oom-forensics report` says."""
    say(2, f"oom-forensics report {logdir}")
    subprocess.run([PROGRAMS / "oom-forensics", "report", logdir], check=True)


@contextlib.contextmanager
def tensorboard(logdir: Path, port: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serves a logdir; yields the address and the process of TensorBoard."""
    url = f"http://localhost:{port}/"
    say(3, f"Starting TensorBoard on {url}")
    server = subprocess.Popen(
        [PROGRAMS / "tensorboard", f"--logdir={logdir}", f"--port={port}"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until_served(url, server)
        yield url, server
    finally:
        server.terminate()
        server.wait()


def wait_until_served(url: str, server: subprocess.Popen[str]) -> None:
    """Returns when TensorBoard answers."""

    def answers() -> bool:
        if server.poll() is not None:
            said = server.stderr.read().strip() if server.stderr else ""
            raise DemoError(f"TensorBoard ended at its start: {said}")
        with contextlib.suppress(urllib.error.URLError):
            fetch(url + "data/plugins_listing")
            return True
        return False

    try:
        wait_until(answers, _START_LIMIT_S)
    except TimeoutError:
        raise DemoError(f"TensorBoard did not answer within {_START_LIMIT_S} s") from None


def fetch(url: str) -> bytes:
    """Returns what a GET of an address answers."""
    with urllib.request.urlopen(url, timeout=60) as response:
        body: bytes = response.read()
        return body


def check_tab(url: str) -> None:
    """Asks every route that the tab needs for its first picture."""
    say(4, "Checking that the tab's routes answer")
    base = url + "data/plugin/oom_forensics/"

    def dataset(run: str, **query: Any) -> Any:
        arguments = {"run": run, "query": json.dumps(query), "format": "json"}
        return json.loads(fetch(f"{base}data?{urllib.parse.urlencode(arguments)}"))

    listing = json.loads(fetch(url + "data/plugins_listing"))
    if not listing.get("oom_forensics", {}).get("enabled"):
        raise DemoError("TensorBoard does not show the tab")
    print(f"  index.js: {len(fetch(base + 'index.js'))} bytes")
    runs = json.loads(fetch(base + "runs"))
    if not runs:
        raise DemoError("the tab finds no run in the logdir")
    run = runs[0]["run"]
    print(f"  runs: {run}")
    ooms = dataset(run, dataset="OOM_WINDOW").get("ooms", [])
    if not ooms:
        raise DemoError("the trace holds no out-of-memory")
    request, verdict = ooms[0]["request"], ooms[0]["verdict"]
    asked_by = request.get("opName") or "a compiled function"
    print(f"  data: {asked_by} asked for {request['requestedBytes']} bytes: {verdict['kind']}")
    series = dataset(run, dataset="MEMORY_TIMELINE", columns=100).get("series", [])
    maps = dataset(run, dataset="FRAGMENTATION", at={"oom": 0}).get("maps", [])
    rows = dataset(run, dataset="ALLOCATIONS", at={"oom": 0}).get("allocations", [])
    if not (series and maps and rows):
        raise DemoError("the timeline, the address map or the live set is empty")
    print(f"  data: {len(maps[0]['chunks'])} chunks, {len(rows)} rows of the live set")
    print("  all answer")


def show(arguments: argparse.Namespace) -> None:
    """Runs the whole demo."""
    logdir: Path = arguments.logdir or ROOT / ".cache/demo" / arguments.story
    if arguments.logdir is None:
        shutil.rmtree(logdir, ignore_errors=True)
    logdir.mkdir(parents=True, exist_ok=True)
    train_into_oom(arguments.story, logdir)
    print_report(logdir)
    port = arguments.port or (free_port() if arguments.once else 6006)
    with tensorboard(logdir, port) as (url, server):
        if arguments.once:
            check_tab(url)
            return
        say(4, f"Open {url}#oom_forensics   (Ctrl+C ends it)")
        with contextlib.suppress(KeyboardInterrupt):
            server.communicate()


def main() -> int:
    """Parses the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="tools/demo", description=__doc__)
    parser.add_argument("story", nargs="?", default=STORIES[0], choices=STORIES)
    parser.add_argument(
        "--once",
        action="store_true",
        help="check that the tab's routes answer, then end",
    )
    parser.add_argument("--port", type=int, help="of TensorBoard (default: 6006)")
    parser.add_argument("--logdir", type=Path, help="where the trace goes (default: below .cache)")
    try:
        show(parser.parse_args())
    except DemoError as error:
        print(f"tools/demo: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"tools/demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
