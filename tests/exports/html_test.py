"""The offline page, opened by real Chromium from the file system."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

# Time that the page's own clock may run before its DOM is written out.
VIRTUAL_MILLISECONDS = 10_000


def dom_of(page: Path, tmp_path: Path) -> str:
    """What Chromium, without a network, makes of the page; without its scripts."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    done = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--virtual-time-budget={VIRTUAL_MILLISECONDS}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return re.sub(r"<(script|style)\b.*?</\1>", "", done.stdout, flags=re.DOTALL)


@pytest.fixture(scope="module")
def page(export: Any) -> Path:
    path: Path = export("html", "page.html")
    return path


def test_it_shows_the_oom_and_its_verdict(
    page: Path, trace: Path, dataset: Any, tmp_path: Path
) -> None:
    (oom,) = dataset(trace, "oom_window")["ooms"]
    dom = dom_of(page, tmp_path)
    assert "Out of memory" in dom
    assert oom["verdict"]["sentence"] in dom
    assert oom["request"]["opName"] in dom


def test_it_asks_nothing_of_the_network(page: Path) -> None:
    html = page.read_text()
    assert not re.search(r"""(src|href)=["']?https?:""", html)


def test_it_is_one_script_of_data_and_one_of_code(page: Path) -> None:
    html = page.read_text()
    assert len(re.findall("<script", html, flags=re.IGNORECASE)) == 2
    assert len(re.findall("</script", html, flags=re.IGNORECASE)) == 2
