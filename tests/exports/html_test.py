"""What the offline page is made of; tests/browser/offline.test.ts opens it in a real Chromium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from oom_forensics.converter.binary import wasm_path

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(not wasm_path().exists(), reason="built without OOM_FORENSICS_WASM=1"),
]


@pytest.fixture(scope="module")
def page(export: Any) -> Path:
    path: Path = export("html", "page.html")
    return path


def test_it_asks_nothing_of_the_network(page: Path) -> None:
    html = page.read_text()
    assert not re.search(r"""(src|href)=["']?https?:""", html)


def test_one_script_of_it_is_code_and_the_rest_are_data(page: Path) -> None:
    html = page.read_text()
    scripts = re.findall('<script type="([^"]*)"', html)
    assert sorted(scripts) == ["application/json", "module", *["text/plain"] * 3]
    assert len(re.findall("<script", html, flags=re.IGNORECASE)) == len(scripts)
    assert len(re.findall("</script", html, flags=re.IGNORECASE)) == len(scripts)
