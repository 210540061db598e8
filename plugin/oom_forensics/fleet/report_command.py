"""`oom-forensics fleet-report`: what a fleet dies of, on one page.

oom-forensics fleet-report DIR -o page.html
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from oom_forensics.core.commands import add_format, write_text
from oom_forensics.fleet.report import answers, page, queries

EXIT_DONE = 0


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "fleet-report"."""
    options = _parser().parse_args(list(arguments))
    if options.sql:
        for name, sql in queries().items():
            print(f"-- {name}.sql\n{sql}")
        return EXIT_DONE
    if not options.folder:
        _parser().error("say where the tables are")
    data = answers(options.folder)
    text = json.dumps(data, indent=1) if options.format == "json" else page(data)
    output = options.output or Path(f"fleet-report.{options.format}")
    write_text(output, text)
    (overview,) = data["answers"]["overview"]
    print(
        f"{output}: {overview['runs']} runs of {overview['jobs']} jobs,"
        f" {overview['incidents']} out-of-memory incidents, {overview['errors']} runs not converted"
    )
    return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oom-forensics fleet-report",
        description="Asks the tables that `oom-forensics fleet` wrote, and shows the answers on"
        " one page that needs no server.",
    )
    parser.add_argument("folder", nargs="?", metavar="DIR", help="where the tables are")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="fleet-report.html")
    add_format(parser, "html", "json")
    parser.add_argument("--sql", action="store_true", help="print the queries and exit")
    return parser
