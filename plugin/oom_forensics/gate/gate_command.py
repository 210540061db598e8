"""`oom-forensics gate`: does a run keep its budget of memory?

oom-forensics gate logdir --budget=memory-budget.toml --baseline=main-logdir --format=markdown
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from oom_forensics.core.commands import add_format, write_text
from oom_forensics.gate.budget import Budget, read_budget
from oom_forensics.gate.checks import check
from oom_forensics.gate.outputs import FORMATS, as_text
from oom_forensics.trace import Trace

EXIT_WITHIN = 0
EXIT_OVER = 3


def main(arguments: Sequence[str]) -> int:
    """Runs the command; `arguments` are those after "gate"."""
    parser = _parser()
    options = parser.parse_args(list(arguments))
    budget = read_budget(options.budget) if options.budget else Budget()
    if budget.needs_baseline and options.baseline is None:
        parser.error("the budget limits growth; name the run to compare with: --baseline=RUN")
    with Trace(options.run) as run:
        if options.baseline is None:
            gate = check(run, budget)
        else:
            with Trace(options.baseline) as baseline:
                gate = check(run, budget, baseline)
    text = FORMATS[options.format](gate)
    if options.output is not None:
        write_text(options.output, text)
        # Whoever reads the log of the job sees it too.
        text = as_text(gate)
    sys.stdout.write(text)
    return EXIT_WITHIN if gate.passed else EXIT_OVER


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oom-forensics gate",
        description="Checks a run against a budget of memory and, with --baseline, against"
        " another run, for example of an earlier commit or another version of TensorFlow."
        " Exit code 0: within the budget, 3: over it.",
    )
    parser.add_argument("run", metavar="RUN", help="a trace, a run's folder or a logdir")
    parser.add_argument("--budget", type=Path, help="a TOML file; docs/gate.md lists its keys")
    parser.add_argument("--baseline", metavar="RUN", help="the run to compare with")
    add_format(parser, *FORMATS)
    parser.add_argument("-o", "--output", type=Path, help="the file to write; else stdout")
    return parser
