from __future__ import annotations

import os
from pathlib import Path

import pytest

from oom_forensics.core.machine_memory import usable_bytes

MACHINE_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize("file", ["memory.max", "memory/memory.limit_in_bytes"])
def test_a_container_has_what_its_control_group_allows(tmp_path: Path, file: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("123456789\n")
    assert usable_bytes(tmp_path) == 123456789


@pytest.mark.parametrize("limit", ["max\n", "9223372036854771712\n", "", "0\n"])
def test_a_control_group_without_a_limit_leaves_the_whole_machine(
    tmp_path: Path, limit: str
) -> None:
    (tmp_path / "memory.max").write_text(limit)
    assert usable_bytes(tmp_path) == MACHINE_BYTES


def test_without_control_groups_it_is_the_whole_machine(tmp_path: Path) -> None:
    assert usable_bytes(tmp_path / "none") == MACHINE_BYTES
