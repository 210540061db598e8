"""What tells of a trace, kept where people keep their runs: a folder, MLflow, W&B."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import oom_forensics
import pytest
from oom_forensics.converter.binary import wasm_path

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(not wasm_path().exists(), reason="built without OOM_FORENSICS_WASM=1"),
]
FILES = {"index.html", "report.txt", "oom_window.json"}


@pytest.fixture
def opened(trace: Path) -> Iterator[oom_forensics.Trace]:
    with oom_forensics.open(trace) as opened:
        yield opened


def without_nonce(html: str) -> str:
    """Each page has its own."""
    return re.sub(r"\b[0-9a-f]{32}\b", "", html)


def check(page: Path, opened: oom_forensics.Trace) -> None:
    """The page of a link is that of the trace, and the rest lies beside it."""
    assert {file.name for file in page.parent.iterdir()} == FILES
    assert without_nonce(page.read_text()) == without_nonce(opened.to_html())
    assert page.with_name("report.txt").read_text() == opened.report(full=True)
    (oom,) = json.loads(page.with_name("oom_window.json").read_text())["ooms"]
    assert oom["verdict"]["sentence"] == opened.oom_window().ooms[0].verdict.sentence


def test_a_folder_has_the_page_the_story_and_the_numbers(
    opened: oom_forensics.Trace, tmp_path: Path
) -> None:
    page = opened.save(tmp_path / "runs/7")
    assert page == tmp_path / "runs/7/index.html"
    check(page, opened)


def test_a_folder_that_cannot_be_written_is_one_sentence(
    opened: oom_forensics.Trace, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(oom_forensics.TraceError, match=r"^Cannot write to .*/file/in: .*\.$"):
        opened.save(tmp_path / "file/in")


def test_mlflow_has_it_as_artifacts_and_gives_the_link(
    opened: oom_forensics.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its newest releases want a word before they use a folder as their store.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    with mlflow.start_run():
        link = opened.to_mlflow()
    check(Path(urlparse(link).path), opened)


def test_wandb_has_it_among_the_files_of_its_run(
    opened: oom_forensics.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="W&B is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    with pytest.raises(oom_forensics.TraceError, match=r"^W&B has no run; call wandb\.init"):
        opened.to_wandb()
    with wandb.init(project="tests"):
        link = opened.to_wandb()
    page = Path(urlparse(link).path)
    assert page.is_relative_to(tmp_path / "wandb")
    check(page, opened)


@pytest.mark.parametrize("library", ["mlflow", "wandb"])
def test_what_is_not_installed_is_named(
    library: str, opened: oom_forensics.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(oom_forensics.TraceError) as refused:
        getattr(opened, f"to_{library}")()
    assert str(refused.value) == f"{library} is not installed; pip install {library}."
