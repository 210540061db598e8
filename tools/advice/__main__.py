"""Runs the jobs, follows the advice, writes the page."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from advice.corpus import Job, read_corpus
from advice.follow import Outcome, as_json, follow, from_json
from advice.generated import generated_jobs
from advice.page import page
from advice.trial import Trials

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "advice"


def main() -> int:
    """Runs it; exit code 1 where a promise did not hold, a verdict is wrong or words differ."""
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
    parser.add_argument(
        "--lines",
        type=Path,
        help="run nothing: the page of the lines that runs have printed, the last of each job",
    )
    parser.add_argument(
        "--seed", type=int, help="jobs put together by chance, instead of those of the corpus"
    )
    parser.add_argument("--count", type=int, default=80, help="with --seed: how many")
    parser.add_argument(
        "--promises-only",
        action="store_true",
        help="do not seek how far a promise that held is from the truth: ten runs a job less",
    )
    options = parser.parse_args()
    trials = Trials(CACHE / "trials.json")
    corpus = {job.name: job for job in read_corpus()}
    if options.seed is not None:
        corpus = {job.name: job for job in generated_jobs(options.seed, options.count, trials)}
    if options.lines:
        known = _read(options.lines, corpus)
        _write(options, [known[name] for name in corpus if name in known], len(corpus))
        return 0
    unknown = set(options.jobs) - set(corpus)
    if unknown:
        parser.error(f"no such job: {', '.join(sorted(unknown))}")

    def followed(name: str) -> Outcome:
        return follow(
            corpus[name],
            CACHE / "runs" / name,
            trials,
            record=not options.again,
            seeks_truth=not options.promises_only,
        )

    made = []
    with ThreadPoolExecutor(options.at_once) as threads:
        for outcome in threads.map(followed, options.jobs or corpus):
            made.append(outcome)
            print(as_json(outcome), flush=True)
    if options.page:
        _write(options, made, len(corpus))
    broken = [each for outcome in made for each in outcome.promises if each.held is False]
    wrong = [each for each in made if not each.verdict_is_right]
    differences = [each for outcome in made for each in outcome.different_words]
    print(
        f"{len(made)} jobs, {len(broken)} broken promises, {len(wrong)} wrong verdicts,"
        f" {len(differences)} told in different words",
        *differences,
        sep="\n",
        file=sys.stderr,
    )
    return 1 if broken or wrong or differences else 0


def _write(options: argparse.Namespace, outcomes: list[Outcome], count: int) -> None:
    """Writes the section of these jobs into the page."""
    if options.seed is None:
        title = "The corpus"
        note = f"{len(outcomes)} of the {count} jobs of [`tests/jobs`](../tests/jobs)."
    else:
        title = f"Jobs put together by chance, seed {options.seed}"
        note = (
            f"{len(outcomes)} of {count} jobs of"
            f" `tools/try_advice --seed={options.seed} --count={count}`: model, data, loop, mode,"
            " batch and limit are drawn (options in this order: model, data, loop, mode, what is"
            " kept, optimizer, batch, width, depth, length). Nothing was mended with them."
        )
    before = options.page.read_text() if options.page.exists() else ""
    options.page.write_text(page(title, note, outcomes, before))


def _read(file: Path, corpus: dict[str, Job]) -> dict[str, Outcome]:
    lines = [line for line in file.read_text().splitlines() if line.startswith("{")]
    outcomes = [from_json(line, corpus) for line in lines]
    return {outcome.job.name: outcome for outcome in outcomes}


if __name__ == "__main__":
    sys.exit(main())
