"""The wheel that holds all, as a user gets it: built, installed into a clean environment, used."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from oom_forensics.in_training.collector_library import PATH_IN_SITE_PACKAGES
from wheels.builds import BuildError, build_wheel
from wheels.contents import metadata_of, names_in
from wheels.sources import copy_sources

PLUGINS = "tensorflow-plugins"
COLLECTOR = str(PATH_IN_SITE_PACKAGES)

Run = Callable[..., str]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def wheel(built_source: Path, without_bazel: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(
        built_source, "everything", tmp_path_factory.mktemp("wheel"), path=without_bazel
    )


@pytest.fixture(scope="module")
def clean_python(wheel: Path, clean_environment: Callable[..., Path]) -> Path:
    """A new environment with TensorFlow and, of ours, only the wheel."""
    return clean_environment(wheel)


def test_it_fits_any_python_3_of_the_platforms_that_can_load_it(wheel: Path, run: Run) -> None:
    assert "-py3-none-manylinux_2_" in wheel.name
    # What its binaries need, by those who define the platforms.
    platform = wheel.stem.rpartition("-")[2]
    shown = run(Path(sys.executable), "-m", "auditwheel", "show", str(wheel))
    assert f'"{platform}"' in " ".join(shown.split())


def test_every_libc_can_load_what_tensorflow_loads(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = [name for name in archive.namelist() if name.startswith(f"{PLUGINS}/lib")]
        (loader,) = [Path(archive.extract(name, tmp_path)) for name in found]
    with loader.open("rb") as file:
        needed = ELFFile(file).get_section_by_name(".gnu.version_r")
        versions = {name.name for _, names in needed.iter_versions() for name in names}
    assert versions == {"GLIBC_2.2.5"}, "the first of x86-64"


def test_it_holds_the_built_parts_and_no_tests(wheel: Path) -> None:
    names = names_in(wheel)
    assert "oom_forensics/static/index.js" in names
    assert COLLECTOR in names
    with zipfile.ZipFile(wheel) as archive:
        program = archive.getinfo("oom_forensics/bin/oom-forensics")
    assert program.external_attr >> 16 & 0o111 == 0o111
    assert not [name for name in names if name.endswith(("_test.py", "conftest.py"))]


def test_it_needs_little_and_leaves_tensorflow_to_the_user(wheel: Path) -> None:
    metadata = metadata_of(wheel)
    needed = [r for r in metadata.get_all("Requires-Dist", []) if "extra ==" not in r]
    names = {requirement.split(">")[0] for requirement in needed}
    assert names == {"tensorboard", "rich", "tomli"}
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_command_runs(clean_python: Path, run: Run) -> None:
    usage = run(clean_python.with_name("oom-forensics"), "--help")
    assert "report" in usage
    assert run(clean_python, "-m", "oom_forensics", "--help") == usage


def test_tensorboard_finds_the_tab(clean_python: Path, run: Run) -> None:
    listed = run(
        clean_python,
        "-c",
        "from tensorboard import default\n"
        "for loader in default.get_dynamic_plugins(): print(loader.__module__)",
    )
    assert "oom_forensics.tensorboard.loader" in listed.split()


def test_tensorflow_loads_the_collector_by_itself(clean_python: Path, run: Run) -> None:
    collector = clean_python.parents[1]
    said = run(
        clean_python,
        "-c",
        "import tensorflow\n"
        "from oom_forensics.in_training.collector_library import loaded_path\n"
        "print(loaded_path())",
    )
    assert said.strip().startswith(str(collector))
    assert said.strip().endswith(f"/{COLLECTOR}")


def test_a_libc_that_is_too_old_leaves_tensorflow_as_it_is(
    clean_python: Path, tmp_path: Path
) -> None:
    """The collector is made to ask for a libc that there is not; the loader says so."""
    (collector,) = clean_python.parents[1].glob(f"lib/python*/site-packages/{COLLECTOR}")
    whole = collector.read_bytes()
    needed = b"GLIBC_2.34\0"
    assert needed in whole
    collector.write_bytes(whole.replace(needed, b"GLIBC_9.34\0"))
    try:
        done = subprocess.run(
            [
                clean_python,
                "-c",
                "import tensorflow as tf\n"
                f"with tf.profiler.experimental.Profile({str(tmp_path)!r}):\n"
                "  print(float(tf.reduce_sum(tf.ones([4]))))",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        collector.write_bytes(whole)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4.0\n"
    assert list(tmp_path.rglob("*.xplane.pb")), "and so do its profiles"
    said = [line for line in done.stderr.splitlines() if line.startswith("OOM Forensics")]
    assert len(said) == 1, done.stderr
    assert "nothing is recorded" in said[0]
    assert "version `GLIBC_9.34' not found" in said[0]


def test_without_bazel_the_build_says_what_to_do(without_bazel: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    copy_sources(source)
    with pytest.raises(BuildError, match=f"run {source}/tools/setup once"):
        build_wheel(source, "everything", tmp_path / "wheels", path=without_bazel)
