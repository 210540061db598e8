"""Runs the jobs, follows the advice, writes the page."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from advice.corpus import read_corpus
from advice.follow import Outcome, as_json, follow
from advice.page import page
from advice.trial import Trials

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "advice"


def main() -> int:
    """Runs it; exit code 1 where a promise did not hold or a verdict is wrong."""
    parser = argparse.ArgumentParser(prog="tools/try_advice", description=__doc__)
    parser.add_argument("jobs", nargs="*", help="names; all without")
    parser.add_argument(
        "--again",
        action="store_true",
        help="judge the out-of-memories that were recorded before, record none",
    )
    parser.add_argument(
        "--at-once",
        type=int,
        default=2,
        help="so many jobs side by side: at an out-of-memory TensorFlow waits for seconds",
    )
    parser.add_argument("--page", type=Path, help="where the page is written to")
    options = parser.parse_args()
    corpus = {job.name: job for job in read_corpus()}
    unknown = set(options.jobs) - set(corpus)
    if unknown:
        parser.error(f"no such job: {', '.join(sorted(unknown))}")
    trials = Trials(CACHE / "trials.json")

    def followed(name: str) -> Outcome:
        return follow(corpus[name], CACHE / "runs" / name, trials, record=not options.again)

    outcomes = []
    with ThreadPoolExecutor(options.at_once) as threads:
        for outcome in threads.map(followed, options.jobs or corpus):
            outcomes.append(outcome)
            print(as_json(outcome), flush=True)
    text = page(outcomes, len(corpus))
    if options.page:
        options.page.write_text(text)
    broken = [each for outcome in outcomes for each in outcome.promises if each.held is False]
    wrong = [each for each in outcomes if not each.verdict_is_right]
    print(
        f"{len(outcomes)} jobs, {len(broken)} broken promises, {len(wrong)} wrong verdicts",
        file=sys.stderr,
    )
    return 1 if broken or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
