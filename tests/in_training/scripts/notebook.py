"""Runs a notebook in a real Jupyter kernel until it is out of memory. Argument: the logdir.

Prints the names of the errors that its cells end with, as JSON.
"""

import json
import sys

import nbformat
from nbclient import NotebookClient

CELLS = (
    f"import oom_forensics\noom_forensics.configure(logdir={sys.argv[1]!r})\n"
    "import tensorflow as tf\nfrom tensorflow import keras",
    "losses = []\nfor step in range(4):\n    losses.append(tf.random.uniform([1024, 256]))",
    "layer = keras.layers.Dense(512, name='wide')\n"
    "@tf.function\n"
    "def apply(batch):\n"
    "    return tf.square(layer(batch))\n"
    "outputs = apply(tf.ones([512, 64]))",
    "too_large = tf.zeros([1024, 1024, 1024])",
)

cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
notebook = nbformat.v4.new_notebook(cells=cells)
done = NotebookClient(notebook, timeout=300, allow_errors=True).execute()
outputs = [output for cell in done.cells for output in cell.outputs]
print(json.dumps([each.ename for each in outputs if each.output_type == "error"]))
