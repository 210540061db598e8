"""Runs a program in a cell of a real Jupyter kernel, prints what it prints. Argument: its path."""

import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat

written: Any = nbformat.v4
notebook = written.new_notebook(cells=[written.new_code_cell(Path(sys.argv[1]).read_text())])
nbclient.NotebookClient(notebook, timeout=400).execute()
for output in notebook.cells[0].outputs:
    if output.output_type == "stream" and output.name == "stdout":
        sys.stdout.write(output.text)
