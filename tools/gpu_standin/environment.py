"""What a job on the stand-in runs in: a stock TensorFlow and the stand-in's libraries."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from gpu_standin import libraries

ROOT = Path(__file__).resolve().parents[2]
VERSION = "2.21.0"
DEVICES = ("T4", "A100-40", "A100-80", "H100")
# ptxas and libdevice: XLA compiles for a device that it never meets.
_COMPILER = "nvidia-cuda-nvcc-cu12==12.9.86"
_SOURCES = (ROOT / "tests/gpu/standin", ROOT / "collector/cupti/testing", Path(__file__).parent)
_TARGET = "//tests/gpu/standin:libstandin_gpu.so"
# What cuDNN answers to the TensorFlow that opens its major version.
_CUDNN = {"8": "8907", "9": "90300"}


def folder_of(version: str = VERSION) -> Path:
    """Where the environment of a TensorFlow lies."""
    return ROOT / f".cache/tensorflow-gpu-{version}"


def site_packages(version: str = VERSION) -> Path:
    """The packages of that environment."""
    return next(iter(folder_of(version).glob("lib/python*/site-packages")), folder_of(version))


def python_of(version: str = VERSION) -> Path:
    """The interpreter of that environment."""
    return folder_of(version) / "bin/python"


def install(version: str = VERSION) -> None:
    """Makes the environment of a stock TensorFlow where there is none.

    Raises:
      MissingError: It cannot be installed.
    """
    folder = folder_of(version)
    make = ROOT / "tools/versions/make_environment"
    if subprocess.run(
        [make, version, folder, f"tensorflow=={version}", _COMPILER], check=False
    ).returncode:
        raise libraries.MissingError(f"the wheel tensorflow {version} cannot be installed.")
    # What `tools/build` staged, as it is when a job starts.
    for name in ("oom_forensics", "tensorflow-plugins"):
        link = site_packages(version) / name
        if not link.is_symlink():
            link.symlink_to(ROOT / "plugin" / name)


def build(version: str = VERSION) -> Path:
    """Builds the libraries where their sources changed, and returns their folder.

    Of several processes that ask for it at once one builds them.

    Raises:
      MissingError: They cannot be built for this TensorFlow.
    """
    with (folder_of(version) / "standin.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(version)


def _build(version: str) -> Path:
    folder = folder_of(version) / "standin"
    sources = [file for source in _SOURCES for file in source.iterdir() if file.is_file()]
    newest = max(file.stat().st_mtime for file in sources)
    made = folder / "libstandin_gpu.so"
    if made.exists() and made.stat().st_mtime >= newest:
        return folder
    tensorflow = site_packages(version) / "tensorflow"
    libraries.cudnn_version(tensorflow)
    done = subprocess.run(
        ["bazel", "build", "--config=release", "--noshow_progress", _TARGET],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise libraries.MissingError(
            "it cannot be built; its headers come with NVIDIA's wheels that WORKSPACE names:\n"
            + done.stderr[-2000:]
        )
    found = subprocess.run(
        [
            "bazel",
            "cquery",
            "--config=release",
            "--output=starlark",
            "--starlark:expr=target.files.to_list()[0].path",
            _TARGET,
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    libraries.make(tensorflow, ROOT / found.stdout.strip(), folder)
    return folder


def variables(settings: Mapping[str, str], version: str = VERSION) -> dict[str, str]:
    """The variables of a job: where the libraries lie, and what the device is like.

    `settings` are those of tests/gpu/standin/README.md, without their prefix: `MEMORY`, `DEVICES`.
    """
    site = site_packages(version)
    compiler = site / "nvidia/cuda_nvcc"
    cudnn = libraries.cudnn_version(site / "tensorflow")
    data = f"--xla_gpu_cuda_data_dir={compiler}"
    return {
        "LD_LIBRARY_PATH": str(folder_of(version) / "standin"),
        "PATH": f"{folder_of(version) / 'bin'}:{compiler / 'bin'}:{os.environ.get('PATH', '')}",
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {data}".strip(),
        "STANDIN_GPU_CUDNN": _CUDNN.get(cudnn, "90300"),
        **{f"STANDIN_GPU_{name}": value for name, value in settings.items()},
    }
