"""The command as WebAssembly, run by wasmtime, beside the native one: the same bytes and codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oom_forensics.converter.binary import MEMORY_VARIABLE, Converter, find_converter
from oom_forensics.converter.process import (
    ConverterError,
    ConverterProcess,
)

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "converter/fuzz/corpus/trace"
TRACES = sorted(GOLDEN.glob("*.xplane.pb"))
CHOICE = "OOM_FORENSICS_CONVERTER"
MOMENTS: list[dict[str, Any]] = [{}, *({"at": at} for at in ({"peak": True}, {"end": True}))]

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(
        not (ROOT / "plugin/oom_forensics/static/program.wasm").exists(),
        reason="built without OOM_FORENSICS_WASM=1",
    ),
]


def converter(kind: str) -> Converter:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CHOICE, kind)
        return find_converter()


def answer(
    kind: str, *arguments: str | Path, folder: Path, **environment: str
) -> tuple[int, bytes, str]:
    """Exit code, standard output and standard error of a command, run in a folder."""
    done = subprocess.run(
        converter(kind).command(*arguments),
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir with two runs, of two hosts and behind a link; and files that are no traces."""
    folder = tmp_path_factory.mktemp("traces")
    older, newer = TRACES[0], TRACES[1]
    hosts = folder / "logdir/train/plugins/profile/2026_01_01"
    hosts.mkdir(parents=True)
    for host, trace in (("a", older), ("b", newer)):
        shutil.copy(trace, hosts / f"{host}.xplane.pb")
        os.utime(hosts / f"{host}.xplane.pb", (1, 1))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(newer, elsewhere / "worker.xplane.pb")
    profile = folder / "logdir/plugins/profile"
    profile.mkdir(parents=True)
    (profile / "2026_02_02").symlink_to(elsewhere.absolute())
    (folder / "empty.xplane.pb").touch()
    (folder / "cut.xplane.pb").write_bytes(older.read_bytes()[:-300])
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "",
        "nonsense",
        "report",
        "report logdir",
        "report logdir --full",
        "report logdir --run=train/2026_01_01",
        "report logdir --run=missing",
        "report elsewhere/worker.xplane.pb --fail-on=oom",
        "info logdir/train/plugins/profile/2026_01_01",
        "report missing",
        "report empty.xplane.pb",
        "report cut.xplane.pb",
        "report cut.xplane.pb --allow-truncated",
        "convert logdir --dataset=allocations --at=peak --format=csv",
        "convert logdir --dataset=compare --other-path=logdir --other-run=train/2026_01_01",
        "convert logdir --dataset=missing",
        "convert logdir --dataset=leaks --from=2026-01-01T00:00:00Z --to=yesterday",
        "convert logdir --dataset=allocations --from=2026-01-01T00:00:00.5Z",
        "convert logdir --format=pprof -o -",
        "convert logdir --format=folded",
        "convert logdir --format=perfetto -o -",
        "what-if logdir --limit=64MiB",
        "forecast logdir --format=json",
        "report logdir -o missing/out.txt",
    ],
)
def test_it_says_what_the_native_command_says(folder: Path, arguments: str) -> None:
    words = arguments.split()
    assert answer("wasm", *words, folder=folder) == answer("native", *words, folder=folder)


def test_it_writes_files(folder: Path, tmp_path: Path) -> None:
    for kind in ("native", "wasm"):
        flags = ("--format=perfetto", "-o", tmp_path / kind)
        assert answer(kind, "convert", "logdir", *flags, folder=folder) == (0, b"", "")
    written = (tmp_path / "native").read_bytes()
    assert len(written) > 1000
    assert (tmp_path / "wasm").read_bytes() == written


@pytest.mark.parametrize("arguments", ["html logdir", "viewer"])
def test_it_makes_pages(folder: Path, arguments: str) -> None:
    def page(kind: str) -> bytes:
        code, made, said = answer(kind, *arguments.split(), folder=folder)
        assert (code, said) == (0, "")
        # A number that is new for each page.
        (number,) = set(re.findall(rb"nonce[-=]\"?([0-9a-f]{32})", made))
        return made.replace(number, b"")

    assert page("wasm") == page("native")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of 20 MB that do not pack, most of it a field that no reader knows (number 31)."""
    noise = os.urandom(20_000_000)
    sevens = [len(noise) >> shift & 0x7F for shift in (0, 7, 14, 21)]
    length = bytes([*(seven | 0x80 for seven in sevens[:-1]), sevens[-1]])
    path = tmp_path_factory.mktemp("large") / "large.xplane.pb"
    path.write_bytes(TRACES[0].read_bytes() + b"\xfa\x01" + length + noise)
    return path


def test_a_page_says_how_large_it_is(folder: Path, large: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    def said(*arguments: str | Path) -> str:
        code, _, said = answer("native", *arguments, "-o", page, folder=folder)
        assert code == 0, said
        return said.removeprefix(f"{page}: ")

    assert re.fullmatch(r"\d\.\d MB, nothing was left out\.\n", said("html", "logdir"))
    one_host = said("html", "logdir", "--run=train/2026_01_01", "--host=a")
    assert one_host.endswith(" MB, other hosts were left out.\n")
    assert "MB, nothing was left out; too large for most mail: " in said("html", large)


def test_more_memory_than_it_has_is_a_sentence(large: Path) -> None:
    limited = {MEMORY_VARIABLE: "24"}
    code, out, said = answer("wasm", "report", large, folder=large.parent, **limited)
    assert (code, out) == (1, b"")
    assert "needs more memory than the WebAssembly converter can have" in said
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CHOICE, "wasm")
        patch.setenv(MEMORY_VARIABLE, "24")
        process = ConverterProcess(str(large))
    with pytest.raises(ConverterError, match="needs more memory than the WebAssembly converter"):
        process.ask({"dataset": "INFO"})
    process.close()


def test_a_question_that_is_cancelled_is_not_answered() -> None:
    frames = b""
    for message in ({"id": 1, "query": '{"dataset": "INFO"}'}, {"cancel": 1}):
        text = json.dumps(message).encode()
        frames += struct.pack("<I", len(text)) + text
    done = subprocess.run(
        converter("wasm").command("serve", TRACES[0]),
        input=frames,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"id":"1"' in done.stdout
    assert b'"error":"The work was cancelled.","code":1}' in done.stdout


@pytest.fixture(scope="module", params=TRACES, ids=lambda trace: trace.name)
def both(request: pytest.FixtureRequest) -> Iterator[tuple[ConverterProcess, ConverterProcess]]:
    """Both converters with one trace open."""
    opened = []
    for kind in ("native", "wasm"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(CHOICE, kind)
            opened.append(ConverterProcess(str(request.param)))
    yield opened[0], opened[1]
    for process in opened:
        process.close()


def test_it_answers_every_dataset_alike(both: tuple[ConverterProcess, ConverterProcess]) -> None:
    names = (
        "INFO OOM_WINDOW LEAKS DRIVER_MEMORY STEPS ADDRESS_HISTORY FORECAST COMPILED_MODULES"
        " MEMORY_TIMELINE ALLOCATIONS FRAGMENTATION COMPARE WHAT_IF ALLOCATION_LIFE"
    )
    answered = 0
    for name in names.split():
        for moment in MOMENTS:
            query = {"dataset": name, "columns": 50, "limit": 100, **moment}
            said = [said_by(process, query) for process in both]
            assert said[0] == said[1], query
            answered += isinstance(said[0], bytes)
    assert answered > 20


def said_by(process: ConverterProcess, query: dict[str, Any]) -> bytes | tuple[str, int]:
    try:
        return process.ask(query, "json")
    except ConverterError as error:
        return str(error), error.code


def test_its_progress_is_told(both: tuple[ConverterProcess, ConverterProcess]) -> None:
    for process in both:
        assert json.loads(process.ask({"dataset": "INFO"}, "json"))["hosts"]
        assert process.progress == 1.0


def test_a_question_without_sense_is_a_sentence(
    both: tuple[ConverterProcess, ConverterProcess],
) -> None:
    query = {"dataset": "ALLOCATIONS", "filter": {"host": "nowhere"}}
    assert said_by(both[0], query) == said_by(both[1], query)
