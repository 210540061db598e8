"""What tools/release does: builds all from a copy of the sources, again to compare, and checks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from wheels.builds import BuildError, build_collector, build_wheel, version_of
from wheels.contents import metadata_text
from wheels.sources import ROOT, STAGED_FOLDERS, copy_sources, write_archive

DIST = ROOT / "dist"
# Always the same folder: Bazel knows what it has built there.
SOURCE = ROOT / "build/release/source"
_BINARIES = (".so", ".wasm", "bin/oom-forensics", ".js", ".css")


def say(text: str) -> None:
    """Prints a line of progress."""
    print(f"[release] {text}", flush=True)


def fresh_source() -> None:
    """Puts the sources, and nothing that was built, into SOURCE."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    copy_sources(SOURCE)
    # What tools/setup wasm has installed.
    (SOURCE / ".cache").symlink_to(ROOT / ".cache")


def built_parts(tree: Path) -> dict[str, bytes]:
    """Returns what Bazel has built and tools/build staged in a tree, by path."""
    found = {}
    for folder in STAGED_FOLDERS:
        for path in sorted((tree / folder).rglob("*")):
            name = str(path.relative_to(tree))
            if path.is_file() and name.endswith(_BINARIES):
                found[name] = path.read_bytes()
    return found


def compare_with_tree() -> None:
    """Says whether the same sources, built in another folder, gave the same bytes."""
    subprocess.run(
        [ROOT / "tools/build"], check=True, env={**os.environ, "OOM_FORENSICS_WASM": "1"}
    )
    here, there = built_parts(ROOT), built_parts(SOURCE)
    if different := [name for name in sorted(here | there) if here.get(name) != there.get(name)]:
        raise BuildError(f"built in two folders these differ: {', '.join(different)}")
    say(f"{len(here)} built files are the same in two folders")


def make() -> None:
    """Makes the three files, into DIST.

    Raises:
      BuildError: one could not be made, or was not the same when it was made again.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    say(f"building {SOURCE.relative_to(ROOT)} (some minutes the first time)")
    fresh_source()
    # Of a compiler cache that both folders share the bytes would be the same, and prove nothing.
    os.environ["OOM_FORENSICS_BAZEL_FLAGS"] = "--disk_cache= --remote_cache="
    wheels = [build_wheel(SOURCE, "viewer", DIST), build_collector(SOURCE, DIST)]
    del os.environ["OOM_FORENSICS_BAZEL_FLAGS"]
    with tempfile.TemporaryDirectory() as folder:
        again = [build_wheel(SOURCE, "viewer", Path(folder)), build_collector(SOURCE, Path(folder))]
        if [each.read_bytes() for each in again] != [each.read_bytes() for each in wheels]:
            raise BuildError("a second build of the wheels differs from the first")
    say("a second build gives the same wheels")
    compare_with_tree()
    name = f"oom_forensics-{version_of(ROOT)}"
    write_archive(name, metadata_text(wheels[0]), DIST / f"{name}.tar.gz")


def check() -> int:
    """Checks the files in DIST; returns the exit code."""
    files = [str(file) for file in sorted(DIST.iterdir())]
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    if code := subprocess.run(command, check=False).returncode:
        return code
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/wheel", "tests/wasm"],
        cwd=ROOT,
        env={**os.environ, "OOM_FORENSICS_RELEASE": str(ROOT)},
        check=False,
    ).returncode


def main() -> int:
    """Makes and checks; returns the exit code."""
    try:
        make()
    except BuildError as error:
        print(f"tools/release: {error}", file=sys.stderr)
        return 1
    if code := check():
        return code
    for file in sorted(DIST.iterdir()):
        say(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
