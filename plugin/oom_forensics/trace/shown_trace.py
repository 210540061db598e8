"""What a trace shows as a whole: its report, its page, and where both can be kept."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from oom_forensics.datasets import DatasetKind, Query
from oom_forensics.trace.pages import TraceError, frame_of, output_of, text_of


class ShownTrace(ABC):
    """A trace for people: as text, as a page, in a notebook or beside a run of yours."""

    path: str

    @abstractmethod
    def ask(self, query: Query) -> dict[str, Any]:
        """Any dataset as parsed canonical JSON."""

    def report(self, *, full: bool = False) -> str:
        """What happened, why and what to change, in the words of `oom-forensics report`.

        Args:
          full: everything that is known, instead of at most 15 lines.

        Raises:
          TraceError: it cannot be told; the sentence says why.
        """
        return self._output("report", *(["--full"] if full else [])).decode()

    def to_html(self, file: str | os.PathLike[str] | None = None) -> str:
        """One page of the tab's views that needs no server, as `oom-forensics html` makes it.

        Args:
          file: where to write it, too.

        Raises:
          TraceError: it cannot be made; the sentence says why.
        """
        page = self._output("html").decode()
        if file is not None:
            Path(file).expanduser().write_text(page, encoding="utf-8")
        return page

    def show(self, *, height: int = 800) -> None:
        """Shows the page in the cell of a notebook (Jupyter, Colab), `height` pixels high.

        Raises:
          TraceError: it cannot be made, or this is no notebook.
        """
        try:
            # Not a requirement of ours: in a notebook it is there.
            notebook = importlib.import_module("IPython.display")
        except ImportError:
            raise TraceError(
                "show() needs a notebook; to_html('page.html') writes the same page to a file."
            ) from None
        # Not its HTML(), which warns of every frame.
        shown = {
            "text/html": frame_of(self.to_html(), height),
            "text/plain": "OOM Forensics: a page, for notebooks that show HTML",
        }
        notebook.display(shown, raw=True)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes what tells of this trace into a folder; returns the page.

        The page is `index.html`, the whole story `report.txt`, and each out-of-memory, as
        `oom_window()` has it, `oom_window.json`.

        Raises:
          TraceError: it cannot be made or written; the sentence says why.
        """
        files = {
            "report.txt": self.report(full=True),
            "oom_window.json": json.dumps(
                self.ask(Query(dataset=DatasetKind.OOM_WINDOW)), indent=2
            ),
            "index.html": self.to_html(),
        }
        target = Path(folder).expanduser()
        try:
            target.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (target / name).write_text(text, encoding="utf-8")
        except OSError as error:
            because = os.strerror(error.errno or 0)
            raise TraceError(f"Cannot write to {target}: {because}.") from None
        return target / "index.html"

    def to_mlflow(self, artifact_path: str = "oom_forensics") -> str:
        """Logs what `save` writes as artifacts of MLflow's active run; returns the page's URI.

        Raises:
          TraceError: it cannot be made, or MLflow is not installed.
        """
        mlflow = _library("mlflow")
        with tempfile.TemporaryDirectory(prefix="oom_forensics_") as folder:
            self.save(folder)
            mlflow.log_artifacts(folder, artifact_path)
        return str(mlflow.get_artifact_uri(f"{artifact_path}/index.html"))

    def to_wandb(self, folder: str = "oom_forensics") -> str:
        """Saves what `save` writes with W&B's active run; returns the page's URL.

        It is that of the run's file; of a run that is offline, that of the file on this machine.

        Raises:
          TraceError: it cannot be made, W&B is not installed, or has no run.
        """
        run = _library("wandb").run
        if run is None:
            raise TraceError("W&B has no run; call wandb.init() first.")
        page = self.save(Path(run.dir, folder))
        run.save(str(page.with_name("*")), base_path=run.dir, policy="now")
        return f"{run.url}/files/{folder}/index.html" if run.url else page.as_uri()

    def _repr_html_(self) -> str:
        """The page, for a notebook whose cell ends with a trace; its story where there is none."""
        try:
            return frame_of(self.to_html())
        except TraceError as error:
            return text_of(self.report(), str(error))

    def _output(self, command: str, *flags: str) -> bytes:
        return output_of(command, self.path, *flags)


def _library(name: str) -> Any:
    """Imports what is no requirement of ours."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise TraceError(f"{name} is not installed; pip install {name}.") from None
