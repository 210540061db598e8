"""A TensorFlow whose profiler plugins have another layout can be imported, and works."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
LOADER = SITE_PACKAGES / "tensorflow-plugins/liboom_forensics_loader.so"


@pytest.fixture(scope="module")
def behind_shim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The installed packages, with the shim instead of our loader."""
    site_packages = tmp_path_factory.mktemp("shim") / "site-packages"
    site_packages.mkdir()
    for each in SITE_PACKAGES.iterdir():
        if each.name != "tensorflow-plugins":
            (site_packages / each.name).symlink_to(each)
    plugins = site_packages / "tensorflow-plugins"
    plugins.mkdir()
    subprocess.run(
        [
            *("c++", "-std=c++17", "-shared", "-fPIC", f"-I{ROOT}"),
            *(HERE / "other_abi/shim.cc", "-o", plugins / "libshim.so"),
        ],
        check=True,
    )
    yield site_packages
    shutil.rmtree(site_packages.parent)


@pytest.mark.parametrize("switch", ["0", "1"])
def test_import_and_profiles_work_and_one_sentence_says_what_is_missing(
    behind_shim: Path, tmp_path: Path, switch: str
) -> None:
    program = (
        "import tensorflow as tf\n"
        f"with tf.profiler.experimental.Profile({str(tmp_path)!r}):\n"
        "  print(float(tf.reduce_sum(tf.ones([4]))))"
    )
    done = subprocess.run(
        # Without `site`, so that only the packages beside the shim are seen.
        [sys.executable, "-S", "-c", program],
        env={
            "PYTHONPATH": str(behind_shim),
            "OTHER_LOADER": str(LOADER),
            "OTHER_MAJOR_VERSION": "7",
            "OOM_FORENSICS": switch,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4.0\n"
    assert list(tmp_path.rglob("*.xplane.pb"))
    said = [line for line in done.stderr.splitlines() if line.startswith("OOM Forensics")]
    assert [line for line in said if "of another version" in line] == said
    assert len(said) == 1


class Profiler(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("ext", ctypes.c_void_p),
        ("device_type", ctypes.c_char_p),
    )


class Functions(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("ext", ctypes.c_void_p),
        ("start", ctypes.c_void_p),
        ("stop", ctypes.c_void_p),
        ("collect_data_xspace", ctypes.c_void_p),
    )


class Registration(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("ext", ctypes.c_void_p),
        ("version", ctypes.c_int32 * 3),
        ("profiler", ctypes.POINTER(Profiler)),
        ("profiler_fns", ctypes.POINTER(Functions)),
        ("destroy_profiler", ctypes.c_void_p),
        ("destroy_profiler_fns", ctypes.c_void_p),
    )


def test_of_smaller_structs_only_what_they_have_is_written() -> None:
    profiler = Profiler(ctypes.sizeof(Profiler))
    functions = Functions(ctypes.sizeof(Functions) - 8)
    registration = Registration(
        ctypes.sizeof(Registration) - 8, None, (0, 3, 0), ctypes.pointer(profiler),
        ctypes.pointer(functions),
    )  # fmt: skip
    ctypes.CDLL(str(LOADER)).TF_InitProfiler(ctypes.byref(registration), None)
    assert profiler.device_type == b"OOM_FORENSICS"
    assert functions.start
    assert functions.stop
    assert not functions.collect_data_xspace
    assert registration.destroy_profiler
    assert not registration.destroy_profiler_fns
