"""Builds the plugin against the installed TensorFlow. Argument: the library to write."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Runs the compiler of the system."""
    spec = find_spec("tensorflow")
    assert spec is not None
    assert spec.origin is not None
    tensorflow = Path(spec.origin).parent
    subprocess.run(
        [
            "c++",
            "-shared",
            "-fPIC",
            "-std=c++17",
            f"-I{tensorflow / 'include'}",
            Path(__file__).with_name("hosted_device.cc"),
            f"-L{tensorflow}",
            "-l:libtensorflow_framework.so.2",
            "-o",
            sys.argv[1],
        ],
        check=True,
    )


if __name__ == "__main__":
    main()
