from __future__ import annotations

from generators.fleet_schema import ROOT, generate


def test_the_page_of_the_tables_is_that_of_the_code() -> None:
    assert (ROOT / "docs/fleet-schema.md").read_text() == generate(), "run tools/generate"
