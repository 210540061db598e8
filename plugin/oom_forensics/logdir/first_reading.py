"""What is added to a run when it is read for the first time: the forecast of its refused step.

The job that died wrote the functions of that step and the shapes of what they were called with
(`in_training/step_forecast/recorded.py`). TensorFlow makes the graph of them in a process of its
own, here, and the forecast is added to the trace.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from oom_forensics.in_training.evidence import trace_file
from oom_forensics.logdir.runs import TRACE_SUFFIX, scan

_LIMIT_S = 400.0
# They limit the pools of the user's jobs, and would limit this one's.
_NOT_FOR_IT = (
    "TF_CPU_ALLOCATOR_USE_BFC",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB",
    "TF_MKL_ALLOC_MAX_BYTES",
    "TF_GPU_ALLOCATOR",
    "TF_ENABLE_ONEDNN_OPTS",
    "XLA_FLAGS",
)


def complete(path: str | os.PathLike[str], run: str = "") -> str:
    """Makes what is still to be made of a trace, the traces of a run, or of a logdir's newest run.

    Args:
      path: Of this machine.
      run: Of a logdir, another run than the newest.

    Returns:
      A sentence that says why something could not be made; empty: nothing is missing.
    """
    waiting = [trace for trace in _traces_at(Path(path), run) if _lacks_forecast(trace)]
    if not waiting:
        return ""
    if importlib.util.find_spec("tensorflow") is None:
        return "The forecast of the refused step needs TensorFlow, which is not installed here."
    if sys.stderr.isatty():
        print("making the forecast of the refused step, once", file=sys.stderr)
    problems = [_forecast(trace) for trace in waiting]
    return next(filter(None, problems), "")


def complete_all_of(arguments: Sequence[str]) -> str:
    """As `complete`, for the paths among the arguments of a command."""
    run = ""
    for at, argument in enumerate(arguments):
        if argument.startswith("--run="):
            run = argument.partition("=")[2]
        elif argument == "--run":
            run = "".join(arguments[at + 1 : at + 2])
    # Other flags take no traces.
    paths = [argument.removeprefix("--other-path=") for argument in arguments]
    problems = [complete(path, run) for path in paths if os.path.exists(path)]
    return next(filter(None, problems), "")


def _traces_at(path: Path, run: str) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    own = sorted(path.glob(f"*{TRACE_SUFFIX}"))
    if not own and path.is_dir():
        runs = [each for each in scan({str(path): ""}) if run in ("", each.name)]
        own = [Path(runs[0].folder, f.host + TRACE_SUFFIX) for f in runs[0].files] if runs else []
    yield from own


def _lacks_forecast(trace: Path) -> bool:
    try:
        names = list(trace_file.plane_names(trace))
    except (OSError, ValueError, IndexError):
        return False
    return names.count(trace_file.STEP) > names.count(trace_file.FORECAST)


def _forecast(trace: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_IT}
    environment.update(
        OOM_FORENSICS="0", CUDA_VISIBLE_DEVICES="-1", TF_CPP_MIN_LOG_LEVEL="3", PYTHONSAFEPATH="1"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-m", "oom_forensics.in_training.step_forecast", str(trace)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"The forecast of the refused step took longer than {_LIMIT_S:.0f} s."
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        why = last[0] if last else f"it ended with {done.returncode}"
        return f"The forecast of the refused step could not be made: {why}"
    return ""
