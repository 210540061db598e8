"""Fails where a room or a folder uses one that stands above it in ARCHITECTURE.md.

    tools/check_floors.py

C++ is judged by its includes, TypeScript and Python by their imports, wherever in a file they
stand; tests may use whatever they test.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "plugin"
PACKAGE = "oom_forensics"

# From the ground up: a folder may use those before it and itself. `.` are the files of the
# room itself; a file may have a floor of its own.
FLOORS = {
    "collector": [
        "core",
        "proto",
        "collector/.",
        "collector/loader",
        "collector/library",
        "collector/recording",
        "collector/python",
        "collector/black_box",
        "collector/xla",
        "collector/tensorflow",
        "collector/trace",
        "collector/cupti",
        "collector/flight_recorder",
        "collector/live",
    ],
    "converter": [
        "core",
        "proto",
        "converter/text",
        "converter/cancellation",
        "converter/bfc",
        "converter/input",
        "converter/quality",
        "converter/trace/op_name",
        "converter/hlo",
        "converter/trace",
        "converter/compiled",
        "converter/reader",
        "converter/replay",
        "converter/cache",
        "converter/black_box",
        "converter/forensics/.",
        "converter/forensics/host_memory",
        "converter/counterfactual",
        "converter/forensics/oom_case",
        "converter/forensics/causes",
        "converter/forensics/verdict",
        "converter/forensics/remedies",
        "converter/run",
        "converter/datasets",
        "converter/render",
        "converter/exports",
        "converter/service",
        "converter/command",
        "converter/wasm",
    ],
    "core": ["proto", "core"],
    "frontend/src": [
        "frontend/src/generated",
        "frontend/src/format",
        "frontend/src/converter",
        "frontend/src/data",
        "frontend/src/store",
        "frontend/src/chart",
        "frontend/src/ui",
        "frontend/src/views",
        "frontend/src/fleet",
        "frontend/src/app",
        "frontend/src/.",
    ],
    "plugin/oom_forensics": [
        "plugin/oom_forensics/core",
        "plugin/oom_forensics/remote",
        "plugin/oom_forensics/converter",
        "plugin/oom_forensics/webassembly",
        "plugin/oom_forensics/in_training/evidence/trace_file",
        "plugin/oom_forensics/logdir",
        "plugin/oom_forensics/.",
        "plugin/oom_forensics/trace",
        "plugin/oom_forensics/in_training/garbage_collection",
        "plugin/oom_forensics/in_training/collector_library",
        "plugin/oom_forensics/in_training/import_watch",
        "plugin/oom_forensics/in_training/in_place",
        "plugin/oom_forensics/in_training/evidence",
        "plugin/oom_forensics/in_training/source",
        "plugin/oom_forensics/in_training/keepers",
        "plugin/oom_forensics/in_training/step_forecast",
        "plugin/oom_forensics/in_training",
        "plugin/oom_forensics/live",
        "plugin/oom_forensics/gate",
        "plugin/oom_forensics/agent",
        "plugin/oom_forensics/fleet",
        "plugin/oom_forensics/tensorboard",
        "plugin/oom_forensics/cli",
    ],
}
# What joins a room's folders stands in the room itself, above them all.
JOINING = {
    "collector/c_api",
    "collector/other_copy",
    "collector/captures",
    "collector/collector",
    "collector/collector_host",
    "collector/hooked_tensorflow",
    "collector/profiler_plugin",
    "collector/python_bridge",
    "collector/snapshot_signal",
    "plugin/oom_forensics/__init__",
    "plugin/oom_forensics/__main__",
    "plugin/oom_forensics/keras",
}

CPP_INCLUDE = re.compile(r'^#include "((?:core|proto|collector|converter)/[^"]+)"', re.MULTILINE)
TS_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*'(\.[^']+)'""")


def is_test(path: Path) -> bool:
    """Whether a file is only there to test or measure others."""
    parts = set(path.relative_to(ROOT).parts)
    return bool(
        re.search(r"(_test\.(cc|h|py)|_benchmark\.cc|\.test\.tsx?|conftest\.py)$", path.name)
        or parts & {"testing", "benchmarks", "fuzz"}
    )


def used_by(path: Path) -> Iterator[str]:
    """The files that a source file uses, from the root of the repository, without suffix."""
    text = path.read_text()
    if path.suffix == ".py":
        yield from modules_used_by(ast.parse(text))
    elif path.suffix in (".ts", ".tsx"):
        for match in TS_IMPORT.finditer(text):
            target = (path.parent / match.group(1)).resolve()
            if target.is_relative_to(ROOT):
                yield str(target.relative_to(ROOT))
    else:
        for match in CPP_INCLUDE.finditer(text):
            yield str(Path(match.group(1)).with_suffix(""))


def modules_used_by(program: ast.Module) -> Iterator[str]:
    """The modules of the package that a Python program imports, as files without suffix.

    Not the package itself: all may ask for its version.
    """
    for node in ast.walk(program):
        names = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            # None is relative: ruff forbids them.
            names = [f"{node.module}.{each.name}" for each in node.names]
        for name in names:
            module = PACKAGES / name.replace(".", "/")
            if not (module.is_dir() or module.with_suffix(".py").exists()):
                module = module.parent
            if module != PACKAGES / PACKAGE and PACKAGES / PACKAGE in module.parents:
                folder = module / "__init__" if module.is_dir() else module
                yield str(folder.relative_to(ROOT))


def floor_of(file: str, floors: list[str]) -> int | None:
    """The index in `floors` of the folder that a file lies in; None: of another room."""
    for index, floor in enumerate(floors):
        folder = floor.removesuffix("/.")
        if floor.endswith("/."):
            if str(Path(file).parent) == folder:
                return index
        elif file == folder or file.startswith(folder + "/"):
            return index
    return None


def back_edges(room: str, floors: list[str]) -> Iterator[str]:
    """One sentence for each use of a folder that stands higher, or of another room."""
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix not in (".cc", ".h", ".ts", ".tsx", ".py") or is_test(path):
            continue
        file = str(path.relative_to(ROOT).with_suffix(""))
        if file in JOINING:
            continue
        own = floor_of(file, floors)
        if own is None:
            yield f"{file}: its folder has no floor; give it one in tools/check_floors.py"
            continue
        for used in used_by(path):
            floor = floor_of(used, floors)
            if used in JOINING or floor is None or floor > own:
                yield f"{path.relative_to(ROOT)} uses {used}, which stands above it"


def main() -> int:
    """Prints every back edge; 1 where there is one."""
    found = [edge for room, floors in FLOORS.items() for edge in back_edges(room, floors)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
