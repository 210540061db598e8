"""`oom_forensics.open` on a real trace."""

from __future__ import annotations

import contextlib
import csv
import gc
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from waiting import wait_until

import oom_forensics
from oom_forensics.converter.binary import find_converter, wasm_path
from oom_forensics.datasets import DatasetKind, Filter, GroupBy, Moment, Query, SortKey
from oom_forensics.tables import to_pandas, to_parquet
from oom_forensics.trace import Trace, TraceError


@pytest.fixture(scope="module")
def trace(oom_logdir: Path) -> Iterator[Trace]:
    with oom_forensics.open(oom_logdir) as opened:
        yield opened


def test_the_out_of_memory_is_an_object(trace: Trace) -> None:
    (oom,) = trace.oom_window().ooms
    assert oom.request.requested_bytes > oom.largest_free_bytes
    assert oom.free_bytes > oom.request.requested_bytes
    assert oom.verdict.kind == "FRAGMENTATION"


def test_it_says_what_the_command_says(trace: Trace, oom_logdir: Path) -> None:
    command = find_converter().command("convert", oom_logdir, "--dataset=oom_window")
    said = json.loads(subprocess.check_output(command))
    assert trace.ask(Query(dataset=DatasetKind.OOM_WINDOW)) == said


def test_a_moment_is_named_as_on_the_command_line(trace: Trace) -> None:
    at_oom = trace.allocations(at="oom:0")
    assert at_oom == trace.allocations(at=Moment(oom=0))
    assert trace.allocations(at=at_oom.time_ns).total_count > 0
    with pytest.raises(TraceError, match="is no moment"):
        trace.allocations(at="yesterday")


def test_all_rows_are_paged_through(trace: Trace) -> None:
    rows = list(trace.all_allocations(at="oom:0"))
    page = trace.allocations(at="oom:0", limit=10)
    assert len(rows) == page.total_count > 10
    assert sum(row.allocated_bytes for row in rows) == page.total_allocated_bytes
    assert len({row.id for row in rows}) == len(rows)


def test_filters_groups_and_orders_are_passed_on(trace: Trace) -> None:
    large = trace.allocations(at="oom:0", only=Filter(min_bytes=1 << 20), limit=10_000)
    assert large.allocations
    assert min(row.allocated_bytes for row in large.allocations) >= 1 << 20
    first = trace.allocations(at="oom:0", sort=SortKey.SORT_ADDRESS, ascending=True).allocations
    assert [row.address for row in first] == sorted(row.address for row in first)
    groups = trace.allocations(at="oom:0", group_by=GroupBy.GROUP_DTYPE).groups
    assert "float" in {group.key.rstrip("3264") for group in groups}


def test_the_map_covers_its_regions(trace: Trace) -> None:
    address_map = trace.fragmentation(at="oom:0").maps[0]
    assert sum(chunk.size_bytes for chunk in address_map.chunks) == sum(
        region.size_bytes for region in address_map.regions
    )


def test_the_timeline_has_the_columns_asked_for(trace: Trace) -> None:
    (series, *_) = trace.memory_timeline(columns=64).series
    assert 0 < len(series.columns) <= 64
    assert series.peak.in_use_bytes >= max(c.in_use_max_bytes for c in series.columns)


def test_rows_become_a_data_frame(trace: Trace) -> None:
    rows = list(trace.all_allocations(at="oom:0"))
    frame = to_pandas(rows)
    assert len(frame) == len(rows)
    assert int(frame["allocated_bytes"].sum()) == sum(row.allocated_bytes for row in rows)
    assert frame["op_name"].tolist() == [row.op_name for row in rows]


@pytest.mark.parametrize("name", ["info", "allocations", "oom_window", "steps"])
def test_an_answer_is_the_table_that_its_csv_is(trace: Trace, oom_logdir: Path, name: str) -> None:
    frame = getattr(trace, name)().to_pandas()
    written = subprocess.check_output(
        find_converter().command("convert", oom_logdir, f"--dataset={name}", "--format=csv"),
        text=True,
    )
    _, *rows = csv.reader(io.StringIO(written))
    assert len(frame) == len(rows)


def test_the_interface_is_listed_and_shadows_nothing() -> None:
    assert {"open", "record", "snapshot", "forecast", "TraceError"} <= set(dir(oom_forensics))
    assert not {"open", "Any", "os"} & set(oom_forensics.__all__)
    for name in dir(oom_forensics):
        assert hasattr(oom_forensics, name), name


def test_rows_survive_parquet(trace: Trace, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = list(trace.all_allocations(at="oom:0"))
    to_parquet(rows, tmp_path / "live.parquet")
    table = parquet.read_table(tmp_path / "live.parquet")
    assert table["address"].to_pylist() == [row.address for row in rows]
    assert table["shape"].to_pylist() == [row.shape if row.has_shape else None for row in rows]


def test_a_run_is_chosen_by_its_name(oom_logdir: Path, oom_run: Path) -> None:
    with oom_forensics.open(oom_logdir, run=oom_run.name) as trace:
        assert trace.path == str(oom_run)
    with pytest.raises(TraceError, match=oom_run.name):
        oom_forensics.open(oom_logdir, run="another")


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="There is no"):
        oom_forensics.open(tmp_path / "missing")
    with oom_forensics.open(tmp_path) as trace, pytest.raises(TraceError):
        trace.info()


def test_it_tells_the_story_as_the_command_does(trace: Trace, oom_logdir: Path) -> None:
    said = subprocess.check_output(find_converter().command("report", oom_logdir), text=True)
    assert trace.report() == said
    assert said.count("\n") <= 15
    opening = said.splitlines()[:-1]
    assert trace.report(full=True).splitlines()[: len(opening)] == opening


@pytest.mark.page
@pytest.mark.skipif(not wasm_path().exists(), reason="built without OOM_FORENSICS_WASM=1")
def test_it_makes_the_page_and_a_frame_of_it(trace: Trace, tmp_path: Path) -> None:
    page = trace.to_html(tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8")
    frame = trace._repr_html_()
    assert frame.startswith("<iframe ")
    assert "<script" not in frame


def test_without_a_notebook_it_says_what_to_do_instead(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(TraceError, match="to_html"):
        trace.show()


def test_it_is_a_path_and_starts_nothing_before_it_is_asked(oom_logdir: Path) -> None:
    with oom_forensics.open(oom_logdir) as opened:
        assert Path(opened) == oom_logdir
        assert opened._converter is None


def test_the_requests_are_served_anew_in_another_limit(trace: Trace) -> None:
    as_it_was = trace.what_if(find_smallest_limit=False)
    assert not as_it_was.fits
    assert as_it_was.asked.refused.op_name == trace.oom_window().ooms[0].request.op_name
    smallest = trace.what_if().smallest_limit_bytes
    enough = trace.what_if(limit=smallest, find_smallest_limit=False, maps=True)
    assert enough.fits
    assert enough.asked.map.chunks
    assert not trace.what_if(limit=smallest - (1 << 20), find_smallest_limit=False).fits
    with pytest.raises(TraceError, match="no/such/scope"):
        trace.what_if(without=["no/such/scope"])


def converters() -> set[int]:
    found = set()
    for child in psutil.Process().children():
        # A child that has ended has no command line to ask for.
        with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            if "serve" in child.cmdline():
                found.add(child.pid)
    return found


def test_a_trace_that_nobody_closed_leaves_no_process_and_no_thread(oom_run: Path) -> None:
    before, threads = converters(), threading.active_count()
    for _ in range(3):
        oom_forensics.open(oom_run).info()

    def are_gone() -> bool:
        gc.collect()
        return not converters() - before and threading.active_count() <= threads

    wait_until(are_gone)


def test_a_converter_that_died_is_started_again_with_the_next_question(oom_run: Path) -> None:
    before = converters()
    with oom_forensics.open(oom_run) as trace:
        told = trace.info()
        (pid,) = converters() - before
        os.kill(pid, signal.SIGKILL)
        # Until that is known a question is answered by a sentence.
        wait_until(lambda: trace._converter is not None and not trace._converter.alive)
        assert trace.info() == told


def test_ctrl_c_leaves_the_trace_usable(oom_run: Path) -> None:
    script = (
        "import sys, time, oom_forensics\n"
        "trace = oom_forensics.open(sys.argv[1])\n"
        "trace.info()\n"
        "first = trace._converter\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    trace.info()\n"
        "    print(trace._converter is first)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, oom_run],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    assert child.communicate(timeout=60)[0] == "True\n"
