"""A real trace for the Python tests: a small training job, really out of memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from oom_forensics.message import Message
from recordings.failed_tests import pytest_runtest_makereport, pytest_sessionfinish  # noqa: F401
from recordings.jobs import profile_in, recorded_demo

# Converter and package are of one build here.
Message.strict = True


@pytest.fixture(scope="module")
def oom_logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir of a demo job that ran out of memory under the profiler.

    One for each file of tests: some look for the processes that have theirs open.
    """
    logdir = tmp_path_factory.mktemp("recorded") / "oom_logdir"
    return Path(shutil.copytree(recorded_demo("fragmentation").logdir, logdir))


@pytest.fixture(scope="module")
def oom_run(oom_logdir: Path) -> Path:
    """The folder of the profile; the flight recorder's report lies beside it."""
    return profile_in(oom_logdir)
