"""Runs a job of the corpus out of memory and follows its advice; prints what became of it.

Usage: follow_one.py JOB LOGDIR
"""

import sys
from pathlib import Path

from advice.corpus import read_corpus
from advice.follow import as_json, follow
from advice.trial import Trials

name, logdir = sys.argv[1], Path(sys.argv[2])
job = next(job for job in read_corpus() if job.name == name)
print(
    as_json(
        follow(job, logdir / "runs", Trials(logdir / "trials.json"), record=True, seeks_truth=False)
    )
)
