"""The two wheels that are released: for viewing anywhere, and the collector for Linux x86-64."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from wheels.builds import build_collector, build_wheel, version_of
from wheels.contents import metadata_of, metadata_text, names_in
from wheels.sources import copy_staged, source_files, write_archive

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "converter/fuzz/corpus/trace/collector.xplane.pb"

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(
        not (ROOT / "plugin/oom_forensics/static/program.wasm").exists(),
        reason="built without OOM_FORENSICS_WASM=1",
    ),
]

Run = Callable[..., str]
Environment = Callable[..., Path]


@pytest.fixture(scope="module")
def viewing_python(viewer: Path, clean_environment: Environment) -> Path:
    """An environment for viewing, without TensorFlow."""
    return clean_environment(viewer, without=("tensorflow", "keras"))


@pytest.fixture(scope="module")
def training_python(viewer: Path, collector: Path, clean_environment: Environment) -> Path:
    """An environment with TensorFlow and both packages."""
    return clean_environment(viewer, collector)


def test_the_one_for_viewing_fits_any_platform(viewer: Path) -> None:
    assert viewer.name == f"oom_forensics-{version_of(ROOT)}-py3-none-any.whl"
    names = names_in(viewer)
    for file in ("index.js", "worker.js", "converter.wasm", "program.wasm"):
        assert f"oom_forensics/static/{file}" in names
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"oom_forensics", f"oom_forensics-{version_of(ROOT)}.dist-info"}
    assert not [name for name in names if name.startswith("oom_forensics/bin") or ".so" in name]
    assert not [name for name in names if name.endswith(("_test.py", "conftest.py"))]


def test_it_needs_what_runs_it_and_can_ask_for_the_collector(viewer: Path) -> None:
    needed = metadata_of(viewer).get_all("Requires-Dist", [])
    always = {each.split(">")[0] for each in needed if "extra ==" not in each}
    # tomli before Python 3.11.
    assert always == {"tensorboard", "wasmtime", "rich", "tomli"}
    assert f'oom-forensics-collector=={version_of(ROOT)}; extra == "tensorflow"' in needed


def test_the_collector_fits_the_platforms_that_can_load_it(collector: Path, run: Run) -> None:
    assert collector.name.startswith(
        f"oom_forensics_collector-{version_of(ROOT)}-py3-none-manylinux_2_"
    )
    platform = collector.stem.rpartition("-")[2]
    shown = run(Path(sys.executable), "-m", "auditwheel", "show", collector)
    assert f'"{platform}"' in " ".join(shown.split())
    assert metadata_of(collector)["Name"] == "oom-forensics-collector"
    assert not metadata_of(collector).get_all("Requires-Dist", [])


def test_both_are_as_the_index_wants_them(viewer: Path, collector: Path, run: Run) -> None:
    checked = run(Path(sys.executable), "-m", "twine", "check", "--strict", viewer, collector)
    assert checked.count("PASSED") == 2


def test_a_second_build_is_the_same_bytes(
    viewer: Path, collector: Path, built_source: Path, without_bazel: str, tmp_path: Path
) -> None:
    again = build_wheel(built_source, "viewer", tmp_path, path=without_bazel)
    assert again.read_bytes() == viewer.read_bytes()
    assert build_collector(built_source, tmp_path).read_bytes() == collector.read_bytes()


def test_the_archive_of_the_sources_builds_the_same(
    viewer: Path, without_bazel: str, tmp_path: Path
) -> None:
    name = f"oom_forensics-{version_of(ROOT)}"
    file = tmp_path / f"{name}.tar.gz"
    write_archive(name, metadata_text(viewer), file)
    with tarfile.open(file) as archive:
        assert sorted(archive.getnames()) == sorted(
            f"{name}/{path}" for path in ["PKG-INFO", *source_files()]
        )
    # TarFile of Debian 12's Python has no filter yet, and newer ones want one.
    subprocess.run(["tar", "-xzf", file, "-C", tmp_path], check=True)
    # What Bazel makes of these files it has made of the same ones in the tree.
    copy_staged(tmp_path / name)
    built = build_wheel(tmp_path / name, "viewer", tmp_path / "wheel", path=without_bazel)
    assert built.read_bytes() == viewer.read_bytes()


def test_without_a_native_converter_the_command_answers_the_same(
    viewing_python: Path, run: Run
) -> None:
    command = viewing_python.with_name("oom-forensics")
    native = ROOT / "plugin/oom_forensics/bin/oom-forensics"
    for arguments in (["report", TRACE], ["convert", TRACE, "--dataset=leaks"]):
        assert run(command, *arguments) == run(native, *arguments)
    usage = run(command, "html", TRACE)
    assert usage.startswith("<!DOCTYPE html>")


def test_the_doctor_says_which_converter_answers(
    viewing_python: Path, training_python: Path
) -> None:
    def said(python: Path) -> str:
        command = [str(python.with_name("oom-forensics")), "doctor"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "ok      converter: WebAssembly, " in said(viewing_python)
    assert "there is none of this machine's own" in said(viewing_python)
    told = said(training_python)
    assert "ok      converter: native, " in told
    assert "oom_forensics_collector/bin/oom-forensics" in told
    assert "ok      collector: loaded from " in told


def test_it_opens_traces_where_a_system_is_not_like_unix(viewing_python: Path, run: Run) -> None:
    """What Windows does not have is taken away, as far as Python's own modules can do without."""
    report = run(viewing_python.with_name("oom-forensics"), "report", TRACE)
    said = run(
        viewing_python,
        "-c",
        "import os, sys\n"
        "for name in ('resource', 'fcntl', 'pwd', 'grp', 'termios', 'syslog'):\n"
        "  sys.modules[name] = None\n"
        "for name in ('fork', 'forkpty', 'sysconf', 'execv', 'getuid', 'register_at_fork'):\n"
        "  delattr(os, name)\n"
        "import oom_forensics, oom_forensics.cli.main, oom_forensics.cli.doctor\n"
        "import oom_forensics.tensorboard.plugin, oom_forensics.cli.run_list\n"
        f"with oom_forensics.open({str(TRACE)!r}) as trace:\n"
        "  print(trace.oom_window().ooms[0].verdict.sentence)\n"
        "  print(trace.report())\n"
        "sys.exit(oom_forensics.cli.main.main(['--version']))\n",
    )
    assert "oom-forensics 0." in said
    assert report.strip() in said


def test_with_the_collector_pages_are_made_by_its_converter(
    training_python: Path, run: Run
) -> None:
    page = run(training_python.with_name("oom-forensics"), "viewer")
    assert page.startswith("<!DOCTYPE html>")
