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

from oom_forensics.converter_binary import ConverterMissingError, find_converter
from oom_forensics.sizes import size_argument

EXIT_DONE = 0
EXIT_UNREADABLE = 1
# Of the machine's memory, what the pool may take.
_ROOM = 0.9


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "rehearse"."""
    options = _parser().parse_args(list(arguments))
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        _parser().error("say which program: … -- python train.py")
    try:
        converter = find_converter()
    except ConverterMissingError as error:
        print(f"oom-forensics: {error}", file=sys.stderr)
        return EXIT_UNREADABLE
    logdir = options.logdir or Path(tempfile.mkdtemp(prefix="oom_forensics_rehearsal_"))
    try:
        ended = subprocess.run(program, env=_environment(options, logdir), check=False)
    except OSError as error:
        print(
            f"oom-forensics: {program[0]} cannot be run: {os.strerror(error.errno or 0)}.",
            file=sys.stderr,
        )
        return EXIT_UNREADABLE
    runs = sorted(logdir.glob("plugins/profile/*/*.xplane.pb"))
    if not runs:
        print(
            f"oom-forensics: the program ended with exit code {ended.returncode} and left no"
            " recording: does it import TensorFlow, and is the collector installed"
            " (`oom-forensics doctor`)?",
            file=sys.stderr,
        )
        return EXIT_UNREADABLE
    print(f"\nRecorded in {runs[-1].parent}; against a limit of {options.limit} bytes:")
    sys.stdout.flush()
    flags = [f"--limit-bytes={options.limit}"]
    if options.format == "json":
        flags.append("--format=json")
    answer = converter.command("forecast", runs[-1].parent, *flags)
    return subprocess.run(answer, check=False).returncode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oom-forensics rehearse",
        description="Runs a few training steps on the CPU and tells what a device with a "
        "smaller memory would have made of them.",
    )
    parser.add_argument("--limit", type=size_argument, required=True, help="16GiB")
    parser.add_argument("--steps", type=int, default=3, help="training steps; then it is ended")
    parser.add_argument("--seconds", type=float, default=600, help="ended after that, too")
    parser.add_argument("--logdir", type=Path, help="where the recording goes")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM …")
    return parser


def _environment(options: argparse.Namespace, logdir: Path) -> dict[str, str]:
    room_mib = int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _ROOM) >> 20
    return {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPU_BFC_MEM_LIMIT_IN_MB": str(room_mib),
        "OOM_FORENSICS_REHEARSAL": str(logdir.absolute()),
        "OOM_FORENSICS_REHEARSAL_STEPS": str(options.steps),
        "OOM_FORENSICS_REHEARSAL_SECONDS": str(options.seconds),
    }
