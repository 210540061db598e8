"""Gives the stand-in the names under which TensorFlow opens NVIDIA's libraries.

TensorFlow exports a trampoline for each function that it may call. What the
stand-in does not answer itself becomes a function that answers 0.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

# By file name: a pattern of its functions' names, and the version in its soname.
# TensorFlow says which cuDNN it opens.
LIBRARIES = {
    "libcuda.so": ("cu[A-Z]", "1"),
    "libcudart.so": ("(?:cuda[A-Z]|__cuda)", "12"),
    "libcublas.so": ("cublas(?!Lt)", "12"),
    "libcublasLt.so": ("cublasLt", "12"),
    "libcudnn.so": ("cudnn", "cudnn"),
    "libcufft.so": ("cufft", "11"),
    "libcusolver.so": ("cusolver", "11"),
    "libcusparse.so": ("cusparse", "12"),
    "libcupti.so": ("cupti", "12"),
    "libnccl.so": ("nccl", "2"),
    "libnvidia-ml.so": ("nvml", "1"),
}
SUPPORTED_CUDA = "12"


class MissingError(Exception):
    """Why there can be no stand-in for this TensorFlow; a sentence."""


def build_of(tensorflow: Path) -> dict[str, object]:
    """What a wheel says of how it was built, without importing it."""
    path = tensorflow / "python/platform/build_info.py"
    if not path.exists():
        raise MissingError(f"{tensorflow} holds no TensorFlow.")
    found = re.search(r"build_info = collections\.OrderedDict\((.*)\)", path.read_text())
    return dict(ast.literal_eval(found.group(1))) if found else {}


def cudnn_version(tensorflow: Path) -> str:
    """The major version of cuDNN that TensorFlow opens."""
    build = build_of(tensorflow)
    if not build.get("is_cuda_build"):
        raise MissingError(
            f"the TensorFlow in {tensorflow} was built without CUDA;"
            " the wheel `tensorflow` is needed."
        )
    cuda = str(build.get("cuda_version", ""))
    if cuda.split(".")[0] != SUPPORTED_CUDA:
        raise MissingError(
            f"this TensorFlow opens the libraries of CUDA {cuda}, the stand-in has those of "
            f"CUDA {SUPPORTED_CUDA}."
        )
    return str(build["cudnn_version"])


def exported(library: Path) -> set[str]:
    """The names of a shared object's functions."""
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    )
    return {line.split()[2].split("@")[0] for line in listing.stdout.splitlines()}


def wanted(tensorflow: Path) -> set[str]:
    """Every function of NVIDIA's libraries that TensorFlow may look up."""
    names = exported(tensorflow / "libtensorflow_framework.so.2")
    # cuSOLVER's trampolines are not exported, their table of names is in the other library.
    found = subprocess.run(
        ["grep", "-aoE", "cusolver[A-Z][A-Za-z_]+", tensorflow / "libtensorflow_cc.so.2"],
        check=False,
        capture_output=True,
        text=True,
    )
    return names | set(found.stdout.split())


def assembly(names: list[str]) -> str:
    """Functions that say their name to the stand-in and answer what it answers."""
    lines = [".text"]
    for number, name in enumerate(names):
        lines += [
            f".globl {name}",
            f".type {name}, @function",
            f"{name}: lea .Lname{number}(%rip), %rdi",
            "jmp standin_gpu_unanswered@PLT",
        ]
    lines.append(".section .rodata")
    lines += [f'.Lname{number}: .asciz "{name}"' for number, name in enumerate(names)]
    lines += ['.section .note.GNU-stack,"",@progbits', ""]
    return "\n".join(lines)


def make(tensorflow: Path, standin: Path, folder: Path) -> None:
    """Writes the libraries; whole or not at all."""
    cudnn = cudnn_version(tensorflow)
    work = folder.with_name(folder.name + ".new")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copyfile(standin, work / "libstandin_gpu.so")
    answered = exported(standin)
    names = wanted(tensorflow) - answered
    for library, (pattern, version) in LIBRARIES.items():
        soname = f"{library}.{cudnn if version == 'cudnn' else version}"
        source = work / f"{library}.s"
        source.write_text(assembly(sorted(name for name in names if re.match(pattern, name))))
        subprocess.run(
            [
                "cc", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-Wl,--no-as-needed",
                "-Wl,-rpath,$ORIGIN", "-o", work / soname, source, work / "libstandin_gpu.so",
            ],
            check=True,
        )  # fmt: skip
        source.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)
