"""The answers about a fleet: SQL in files, asked of the tables, on one page of the tab's build."""

from __future__ import annotations

import html
import json
import re
import time
from importlib import resources
from typing import Any

from oom_forensics import __version__
from oom_forensics.fleet.reading import connect

DATA_VERSION = 1
"""Changes when a query or a column that the page reads goes or changes its meaning."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src \
'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<script id="oom-forensics-fleet" type="application/json">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""
# What would end a script or style element, or begin a comment in it.
_ENDS_ELEMENT = re.compile(r"<(?=/script|/style|!--)", re.IGNORECASE)


def queries() -> dict[str, str]:
    """Returns the SQL of all questions by name; a user can begin from them."""
    folder = resources.files("oom_forensics.fleet") / "sql"
    return {
        file.name.removesuffix(".sql"): file.read_text()
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".sql")
    }


def answers(url: str) -> dict[str, Any]:
    """Returns the page's data: what each query answers, as a list of rows by column.

    Raises:
      FleetError: there are no tables at `url`.
    """
    tables = connect(url)
    answered = {}
    for name, sql in queries().items():
        cursor = tables.execute(sql)
        columns = [column[0] for column in cursor.description]
        answered[name] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return {
        "version": DATA_VERSION,
        "folder": url,
        "writtenNs": str(time.time_ns()),
        "program": f"oom-forensics {__version__}",
        "sql": queries(),
        "answers": answered,
    }


def page(data: dict[str, Any]) -> str:
    """Returns the page that shows `answers`, with all that it needs in it."""
    static = resources.files("oom_forensics") / "static"
    return _PAGE.format(
        title=html.escape(f"OOM Forensics: {data['folder']}"),
        style=_in_element((static / "index.css").read_text()),
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script=_in_element((static / "fleet.js").read_text()),
    )


def _in_element(code: str) -> str:
    return _ENDS_ELEMENT.sub(r"<\\", code)
