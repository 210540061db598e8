"""Runs the tests of the project; the last line counts them all.

Names of runners as arguments run only these, one after another. Without names all run, in two
lanes beside each other: one that compiles and then tests what it built, and one that mostly waits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from test_runners.runners import ROOT, RUNNERS
from test_runners.tally import Tally

# What compiles keeps both cores busy. Jobs that run out of memory mostly wait (TensorFlow tries a
# refused allocation for 10 s), and there are so many of them that they last longer than that: the
# first lane therefore ends with the tests that start few jobs.
COMPILING = ["check", "cc", "wasm", "asan", "fuzz", "tsan", "pages", "pytest"]
WAITING = ["vitest", "jobs"]
# A person's hand on a page, with nothing beside it.
ALONE = ["browser"]

Result = tuple[str, Tally]


class Beside:
    """Runs runners in a process of its own, and shows what they printed when they are done."""

    def __init__(self, names: list[str], folder: Path) -> None:
        """Starts them."""
        self._names = names
        self._log = folder / "beside.log"
        self._results = folder / "beside.json"
        command = [sys.executable, "-m", "test_runners", f"--results={self._results}", *names]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT
            )

    def wait(self) -> list[Result]:
        """Waits for them and returns their counts; a runner that died is a failed test."""
        self._process.wait()
        print(self._log.read_text(errors="replace"), end="", flush=True)
        try:
            read = json.loads(self._results.read_text())
        except (OSError, ValueError):
            return [(f"{' and '.join(self._names)}: ended early", Tally(failed=1))]
        return [(line, Tally(**tally)) for line, tally in read]


def run(names: Iterable[str]) -> list[Result]:
    """Runs these one after another and prints a line for each."""
    results = []
    for name in names:
        title, runner = RUNNERS[name]
        print(f"\n[test {name}] {title}", flush=True)
        begin = time.monotonic()
        tally = runner()
        line = f"{title}: {tally} ({time.monotonic() - begin:.0f} s)"
        print(f"[test {name}] {line}", flush=True)
        results.append((line, tally))
    return results


def run_all() -> list[Result]:
    """Runs all; those that wait beside those that compile."""
    with tempfile.TemporaryDirectory() as folder:
        beside = Beside(WAITING, Path(folder))
        results = run(COMPILING)
        results += beside.wait()
    return results + run(ALONE)


def main(arguments: list[str]) -> int:
    """Runs what is asked for and prints the counts; 1 when a test failed."""
    file = next((a.partition("=")[2] for a in arguments if a.startswith("--results=")), None)
    names = [a for a in arguments if not a.startswith("--")]
    if unknown := sorted(set(names) - set(RUNNERS)):
        print(f"tools/test: no runner {', '.join(unknown)}; there are {', '.join(RUNNERS)}")
        return 2
    results = run(names) if names else run_all()
    total = sum((tally for _, tally in results), Tally())
    if file:
        Path(file).write_text(json.dumps([(line, asdict(tally)) for line, tally in results]))
    else:
        print("\n" + "\n".join(line for line, _ in results))
        print(total, flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
