"""The copy of a run lies in the cache, whatever its name is."""

from __future__ import annotations

from pathlib import Path

import pytest

from oom_forensics.remote.local_copies import folder_of


@pytest.mark.parametrize("name", ["..", ".", "2026_11_22_oom", "", "%2e%2e"])
def test_no_name_of_a_run_leads_out_of_the_cache(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OOM_FORENSICS_CACHE", str(tmp_path))
    folder = folder_of(f"s3://bucket/logdir/plugins/profile/{name}")
    assert folder.resolve().relative_to(tmp_path.resolve()).parts[1:], folder
