"""Jobs on the stand-in GPU, and what we say of their out-of-memories."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpu_standin import environment
from gpu_standin.libraries import MissingError
from recordings.recording import LOGDIR, Recording, recorded

SCRIPTS = Path(__file__).parent / "scripts"

Run = Callable[..., Recording]
Failures = Callable[..., list[Any]]


@functools.cache
def libraries_of(version: str) -> Path:
    """The stand-in's libraries for a TensorFlow, or a test that is skipped."""
    if not (environment.folder_of(version) / ".complete").exists():
        pytest.skip(
            f"no TensorFlow {version} for GPUs is installed:"
            f" tools/standin_gpu --install --tensorflow={version}"
        )
    try:
        return environment.build(version)
    except MissingError as missing:
        pytest.skip(f"stand-in GPU: {missing}")


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs a script on the stand-in, or on a real GPU. Settings are in capital letters."""
    is_real = os.environ.get("OOM_FORENSICS_GPU") == "real"

    def device(settings: dict[str, str], version: str) -> dict[str, str]:
        if not is_real:
            return environment.variables(settings, version)
        if settings.keys() - {"MEMORY"}:
            pytest.skip("only the stand-in has what this test asks for")
        size_gib = int(settings["MEMORY"].removesuffix("GiB"))
        return {"TF_PER_DEVICE_MEMORY_LIMIT_MB": str(size_gib << 10)}

    def run(
        script: str,
        *arguments: str,
        exit_code: int | None = 0,
        tf: dict[str, str],
        version: str = environment.VERSION,
        **settings: str,
    ) -> Recording:
        libraries = libraries_of(version)
        return recorded(
            [environment.python_of(version), SCRIPTS / script, *arguments],
            {
                **device(settings, version),
                "OOM_FORENSICS_LOGDIR": LOGDIR,
                "TF_CPP_MIN_LOG_LEVEL": "2",
                **tf,
            },
            [SCRIPTS / script, libraries / "libstandin_gpu.so"],
            exit_code=exit_code,
        )

    return run


@pytest.fixture(scope="session")
def failures(dataset: Callable[..., Any]) -> Failures:
    """Every out-of-memory of the newest run, each with its map equal to TensorFlow's own."""

    def ask(recording: Recording, has_map: bool = True) -> list[Any]:
        runs = sorted((recording.logdir / "plugins/profile").iterdir())
        assert runs, recording.done.stderr[-3000:]
        found = dataset(runs[-1], "oom_window")["ooms"]
        for oom in found:
            if has_map:
                assert oom["dumpCheck"]["equal"]
                assert int(oom["dumpCheck"]["chunks"]) > 0
        return list(found)

    return ask
