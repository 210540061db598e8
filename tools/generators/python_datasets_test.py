from __future__ import annotations

import ast

from generators.python_datasets import ROOT, generate


def test_the_kept_types_are_those_of_the_schema() -> None:
    kept = (ROOT / "plugin/oom_forensics/datasets.py").read_text()
    # Compared as code: the kept file is formatted.
    assert ast.dump(ast.parse(kept)) == ast.dump(ast.parse(generate())), "run tools/generate"
