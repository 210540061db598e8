"""Hooks of pytest: what a failed test looked at is recorded again the next time."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from recordings.recording import doubt, forget_doubted


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Doubts the recordings that the tests of a file looked at when one of them fails."""
    report = yield
    if report.failed:
        doubt(item.nodeid.partition("::")[0])
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Lets go of them when no other process of the session looks at them any more."""
    if not hasattr(session.config, "workerinput"):
        forget_doubted()
