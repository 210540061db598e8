"""A notebook's lines are told with their cell and text, run by a real Jupyter kernel."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import nbformat
import pytest
from nbclient import NotebookClient

Command = Callable[..., subprocess.CompletedProcess[str]]

CELLS = (
    "import oom_forensics\noom_forensics.configure(logdir={logdir!r})\n"
    "import tensorflow as tf\nfrom tensorflow import keras",
    "losses = []\nfor step in range(4):\n    losses.append(tf.random.uniform([1024, 256]))",
    "layer = keras.layers.Dense(512, name='wide')\n"
    "@tf.function\n"
    "def apply(batch):\n"
    "    return tf.square(layer(batch))\n"
    "outputs = apply(tf.ones([512, 64]))",
    "too_large = tf.zeros([1024, 1024, 1024])",
)


@pytest.fixture(scope="module")
def report(
    tmp_path_factory: pytest.TempPathFactory, command: Command, bfc_environment: dict[str, str]
) -> str:
    logdir = tmp_path_factory.mktemp("notebook")
    cells = [
        nbformat.v4.new_code_cell(cell.format(logdir=str(logdir)))  # type: ignore[no-untyped-call]
        for cell in CELLS
    ]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in bfc_environment.items():
            patch.setenv(name, value)
        notebook = NotebookClient(
            nbformat.v4.new_notebook(cells=cells),  # type: ignore[no-untyped-call]
            timeout=300,
            allow_errors=True,
        ).execute()
    errors = [
        output.ename
        for cell in notebook.cells
        for output in cell.outputs
        if output.output_type == "error"
    ]
    assert errors == ["ResourceExhaustedError"]
    done = command("report", logdir)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        # An eager op: the collector's stack, whose text only the kernel has.
        r"\d+\.py:3: In\[2\]: losses\.append\(tf\.random\.uniform",
        # A graph's op: where the layer was made that it is of.
        r"\d+\.py:1: In\[3\]: layer = keras\.layers\.Dense\(512, name='wide'\)",
        # What was refused.
        r"\d+\.py:1: In\[4\]: too_large = tf\.zeros",
    ],
)
def test_a_line_is_told_with_its_cell_and_its_text(report: str, line: str) -> None:
    assert re.search(line, report), report


def test_what_keeps_a_tensor_is_a_variable_of_the_notebook(report: str) -> None:
    assert re.search(r"MiB in 4: list 'losses' in __main__ \(4 items\)", report), report
