"""What a small file may cost: time and memory in proportion to its bytes, whatever is in it."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile.files import FILES
from oom_forensics.converter.binary import find_converter
from oom_forensics.fleet.conversion import RunLimits, convert
from oom_forensics.fleet.run_finder import FleetRun

DATASETS = ("info", "oom_window", "forecast", "compiled_modules", "allocations", "what_if")
# A reader that goes over everything some times takes a hundredth of it.
BASE_S, S_PER_MB = 2.0, 6.0
BASE_BYTES, BYTES_PER_BYTE = 100 << 20, 150
NO_MEMORY = "This needs more memory than the system gives the converter"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(params=sorted(FILES))
def hostile(folder: Path, request: pytest.FixtureRequest) -> Path:
    path = folder / f"{request.param}.xplane.pb"
    if not path.exists():
        path.write_bytes(FILES[request.param]())
    return path


def limited(memory_bytes: int, seconds: int) -> Callable[[], None]:
    """What gives a child so much memory and processor time, and no more."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return limit


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_hostile_file_costs_no_more_than_its_size(hostile: Path, dataset: str) -> None:
    size = hostile.stat().st_size
    done = subprocess.run(
        find_converter().command("convert", hostile, f"--dataset={dataset}", "--format=pb"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=limited(
            BASE_BYTES + BYTES_PER_BYTE * size, int(BASE_S + S_PER_MB * size / 1e6) + 1
        ),
    )
    # 1, 2: a sentence says why it cannot be answered. Negative: it was ended at a limit.
    assert done.returncode in (0, 1, 2)
    # None of them is refused for the memory that it would take.
    assert "memory than" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_where_the_system_gives_no_memory_it_is_one_sentence(folder: Path) -> None:
    path = folder / "names.xplane.pb"
    path.write_bytes(FILES["names_by_reference"]())
    done = subprocess.run(
        find_converter().command("info", path),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited(20 << 20, 60),
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"oom-forensics: {NO_MEMORY}")
    assert done.stderr.count("\n") == 1


def no_thread() -> None:
    """What leaves a child no room for the stack of a second thread."""
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))


def test_a_converter_that_gets_no_thread_to_read_requests_says_so(folder: Path) -> None:
    path = folder / "names.xplane.pb"
    path.write_bytes(FILES["names_by_reference"]())
    done = subprocess.run(
        find_converter().command("serve", path),
        stdin=subprocess.PIPE,
        capture_output=True,
        check=False,
        preexec_fn=no_thread,
    )
    assert done.returncode == 1
    assert NO_MEMORY in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_many_hosts_are_read_by_one_thread_where_there_is_no_other(folder: Path) -> None:
    run = folder / "hosts"
    run.mkdir()
    for host in "abc":
        (run / f"{host}.xplane.pb").write_bytes(FILES["forecast_orders"]())
    done = subprocess.run(
        find_converter().command("info", run),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=no_thread,
    )
    assert done.returncode == 0, done.stderr


def test_a_worker_of_a_fleet_tells_it_as_a_row(folder: Path) -> None:
    path = folder / "names.xplane.pb"
    path.write_bytes(FILES["names_by_reference"]() * 4)
    run = FleetRun(
        url=str(path),
        job="job",
        name="names",
        version="1",
        files=(str(path),),
        size_bytes=path.stat().st_size,
        modified_ns=0,
    )
    converted = convert(run, RunLimits(memory_bytes=20 << 20))
    assert converted.failed
    (error,) = converted.rows["errors"]
    assert NO_MEMORY in error["sentence"]
    assert error["sentence"].count("\n") == 0
