"""Runs a command on a GPU that is not there: TensorFlow's own GPU code, memory without a device.

What it can show and what it cannot: tests/gpu/standin/README.md.
"""

from __future__ import annotations

import argparse
import os
import sys

from gpu_standin import environment
from gpu_standin.libraries import MissingError


def parse(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line; what follows `--` is the command."""
    parser = argparse.ArgumentParser(prog="tools/standin_gpu", description=__doc__)
    parser.add_argument(
        "--device", choices=environment.DEVICES, help="the device to be like (A100-80)"
    )
    parser.add_argument("--devices", type=int, help="how many there are (1)")
    parser.add_argument(
        "--memory", metavar="SIZE", help="what each has, as 4GiB; else the device's"
    )
    parser.add_argument("--context", metavar="SIZE", help="what a context takes; else the device's")
    parser.add_argument(
        "--others",
        metavar="SIZE|FILE",
        help="what other processes hold of each, or a file that says so while the job runs",
    )
    parser.add_argument(
        "--libraries",
        metavar="NAME=SIZE,...",
        help="what a handle takes of cudnn, cublas, cublaslt, cufft, cusolver, cusparse, nccl",
    )
    parser.add_argument("--trace", metavar="FILE", help="a file for calls without an answer")
    parser.add_argument("--tensorflow", metavar="VERSION", default=environment.VERSION)
    parser.add_argument("--install", action="store_true", help="install what it needs, run nothing")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- python train.py")
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command and not options.install:
        parser.error("a command is missing: tools/standin_gpu -- python train.py")
    return options


def main(arguments: list[str]) -> int:
    """Installs, builds and becomes the command; 1 with a sentence where it cannot."""
    options = parse(arguments)
    try:
        environment.install(options.tensorflow)
        if options.install:
            return 0
        environment.build(options.tensorflow)
        names = ("device", "devices", "memory", "context", "others", "libraries", "trace")
        given = {name.upper(): getattr(options, name) for name in names}
        settings = {name: str(value) for name, value in given.items() if value is not None}
        variables = environment.variables(settings, options.tensorflow)
    except MissingError as missing:
        print(f"tools/standin_gpu: {missing}", file=sys.stderr)
        return 1
    os.environ.update(variables)
    try:
        os.execvp(options.command[0], options.command)
    except OSError as error:
        print(f"tools/standin_gpu: {options.command[0]}: {error.strerror}", file=sys.stderr)
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
