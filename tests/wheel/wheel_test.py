"""The wheel as a user gets it: built, installed into a clean environment, used."""

from __future__ import annotations

import email
import email.message
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("oom_forensics", "tensorflow-plugins")


def pip_wheel(source: Path, output: Path, path: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-build-isolation",
        "--no-deps",
    ]
    return subprocess.run(
        [*command, "--wheel-dir", output, source],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("wheel")
    built = pip_wheel(ROOT, output, os.environ["PATH"])
    assert built.returncode == 0, built.stderr
    (file,) = output.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def clean_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with TensorFlow and, of ours, only the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    (site_packages,) = folder.glob("lib/python*/site-packages")
    # TensorFlow is linked in from the environment of the tests, not copied.
    (here,) = Path(sys.prefix).glob("lib/python*/site-packages")
    for entry in here.iterdir():
        target = site_packages / entry.name
        if not entry.name.startswith(OURS) and not target.exists():
            target.symlink_to(entry)
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([python, *install, wheel], check=True)
    return python


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_fits_any_python_3_of_the_platform(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")


def test_it_holds_the_built_parts_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        program = archive.getinfo("oom_forensics/bin/oom-forensics")
    assert "oom_forensics/static/index.js" in names
    assert "tensorflow-plugins/liboom_forensics_collector.so" in names
    assert program.external_attr >> 16 & 0o111 == 0o111
    assert not [name for name in names if name.endswith(("_test.py", "conftest.py"))]


def test_it_needs_tensorboard_and_leaves_tensorflow_to_the_user(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("/METADATA")]
        metadata: email.message.Message = email.message_from_bytes(archive.read(name))
    needed = [r for r in metadata.get_all("Requires-Dist", []) if "extra ==" not in r]
    assert [requirement.split(">")[0] for requirement in needed] == ["tensorboard"]
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_command_runs(clean_python: Path) -> None:
    usage = run(clean_python.with_name("oom-forensics"), "--help")
    assert "report" in usage
    assert run(clean_python, "-m", "oom_forensics", "--help") == usage


def test_tensorboard_finds_the_tab(clean_python: Path) -> None:
    listed = run(
        clean_python,
        "-c",
        "from tensorboard import default\n"
        "for loader in default.get_dynamic_plugins(): print(loader.__module__)",
    )
    assert "oom_forensics.tensorboard_loader" in listed.split()


def test_tensorflow_loads_the_collector_by_itself(clean_python: Path) -> None:
    collector = clean_python.parents[1]
    said = run(
        clean_python,
        "-c",
        "import tensorflow\n"
        "from oom_forensics.in_training.collector_library import loaded_path\n"
        "print(loaded_path())",
    )
    assert said.strip().startswith(str(collector))
    assert said.strip().endswith("/tensorflow-plugins/liboom_forensics_collector.so")


def test_without_bazel_the_build_says_what_to_do(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in subprocess.check_output(
        [
            "git",
            "ls-files",
            "plugin",
            "setup.py",
            "pyproject.toml",
            "README.md",
            "LICENSE",
        ],
        cwd=ROOT,
        text=True,
    ).splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    failed = pip_wheel(source, tmp_path / "wheels", path=str(Path(sys.executable).parent))
    assert failed.returncode != 0
    assert f"run {source}/tools/setup once" in failed.stderr + failed.stdout
