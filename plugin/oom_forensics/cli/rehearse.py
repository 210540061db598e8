"""`oom-forensics rehearse`: a few steps on the CPU, and what a smaller device had made of them.

    oom-forensics rehearse --limit=16GiB --steps=3 -- python train.py

The user's own program runs in a pool of TensorFlow's BFC allocator that has room, is ended
after so many training steps, and the converter replays what it asked for against the limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from oom_forensics.converter.binary import find_converter
from oom_forensics.core.commands import EXIT_UNREADABLE, add_format
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.core.machine_memory import usable_bytes
from oom_forensics.core.sizes import size_argument
from oom_forensics.logdir import first_reading

# The part of the memory of this machine, or of its container, that the pool may take.
_ROOM = 0.9


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "rehearse"."""
    options = _parser().parse_args(list(arguments))
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        _parser().error("say which program: … -- python train.py")
    converter = find_converter()
    logdir = options.logdir or Path(tempfile.mkdtemp(prefix="oom_forensics_rehearsal_"))
    runs_before = _runs_in(logdir)
    try:
        ended = subprocess.run(program, env=_environment(options, logdir), check=False)
    except OSError as error:
        because = os.strerror(error.errno or 0)
        raise OomForensicsError(f"{program[0]} cannot be run: {because}.") from None
    # As a shell gives the code of a program that a signal ended.
    code = ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
    recorded = sorted(_runs_in(logdir) - runs_before)
    if not recorded:
        print(
            f"oom-forensics: the program ended with exit code {code} and left no"
            " recording: does it import TensorFlow, and is the collector installed"
            " (`oom-forensics doctor`)?",
            file=sys.stderr,
        )
        return code or EXIT_UNREADABLE
    run = recorded[-1].parent
    if code:
        print(
            f"oom-forensics: the program failed with exit code {code}; the rehearsal covers what"
            " it did until then.",
            file=sys.stderr,
        )
    print(f"\nRecorded in {run}; against a limit of {options.limit} bytes:")
    sys.stdout.flush()
    first_reading.complete(run)
    flags = (f"--limit={options.limit}", f"--format={options.format}")
    answer = converter.command("forecast", run, *flags)
    answered = subprocess.run(answer, check=False).returncode
    return code or answered


def _runs_in(logdir: Path) -> set[Path]:
    return set(logdir.glob("plugins/profile/*/*.xplane.pb"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oom-forensics rehearse",
        description="Runs a few training steps on the CPU and says whether they would fit on a"
        " device with less memory.",
    )
    parser.add_argument("--limit", type=size_argument, required=True, help="16GiB")
    parser.add_argument(
        "--steps", type=int, default=3, help="training steps to run before the program is ended"
    )
    parser.add_argument(
        "--seconds", type=float, default=600, help="time after which the program is ended"
    )
    parser.add_argument("--logdir", type=Path, help="where the recording goes")
    add_format(parser, "text", "json")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM …")
    return parser


def _environment(options: argparse.Namespace, logdir: Path) -> dict[str, str]:
    room_mib = int(usable_bytes() * _ROOM) >> 20
    return {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPU_BFC_MEM_LIMIT_IN_MB": str(room_mib),
        "OOM_FORENSICS_REHEARSAL": str(logdir.absolute()),
        "OOM_FORENSICS_REHEARSAL_STEPS": str(options.steps),
        "OOM_FORENSICS_REHEARSAL_SECONDS": str(options.seconds),
    }
