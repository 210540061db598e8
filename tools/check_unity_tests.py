"""Fails where a unit test of core or converter is not among those that are built together.

    tools/check_unity_tests.py

They are listed in converter/unity/BUILD.bazel: Bazel cannot find them itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path("converter/unity/BUILD.bazel")

_TEST = re.compile(r'^cc_test\(\n    name = "(\w+)",\n(.*?)^\)$', re.MULTILINE | re.DOTALL)


def forgotten(listed: str) -> Iterator[str]:
    """One sentence for each test that is in no list."""
    for room in ("core", "converter"):
        for file in sorted((ROOT / room).rglob("BUILD.bazel")):
            package = file.parent.relative_to(ROOT)
            if file == ROOT / LIST:
                continue
            for name, rest in _TEST.findall(file.read_text()):
                label = f"//{package}:{name}"
                if f'"{label}"' not in listed and '"not-united"' not in rest:
                    yield f"{label}: name it in {LIST}, or tag it not-united and say why"


def main() -> int:
    """Prints every test that was forgotten; 1 where there is one."""
    found = list(forgotten((ROOT / LIST).read_text()))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
