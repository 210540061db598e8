"""The pytest marker `oom_budget`: a test fails that uses more memory than it may.

    @pytest.mark.oom_budget("2 GiB")
    def test_train_step(): ...

The peak is that of each of TensorFlow's allocators in the test's body, what was live before
it included, as in production. Keywords are the keys of a budget's file:
`@pytest.mark.oom_budget(peak="2 GiB", leak_per_step=0)`.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line(
        "markers",
        "oom_budget(peak, **keys): fails a test whose TensorFlow memory exceeds a budget.",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Records the body of a marked test, and measures it."""
    marker = item.get_closest_marker("oom_budget")
    if marker is None:
        return (yield)
    # Imported here: pytest loads this module in every project that has the package.
    from oom_forensics.core.errors import OomForensicsError
    from oom_forensics.gate.budget import BudgetError, budget_of
    from oom_forensics.gate.checks import check
    from oom_forensics.in_training.recorder import record
    from oom_forensics.trace import Trace

    try:
        budget = budget_of({**dict(zip(["peak"], marker.args, strict=False)), **marker.kwargs})
    except BudgetError as error:
        pytest.fail(f"oom_budget: {error}", pytrace=False)
    if budget.needs_baseline:
        pytest.fail("oom_budget: a test has no baseline run.", pytrace=False)
    # The collector is there once TensorFlow is.
    importlib.import_module("tensorflow")
    with tempfile.TemporaryDirectory(prefix="oom_budget_") as logdir:
        try:
            with record(logdir):
                result = yield
            with Trace(logdir) as trace:
                gate = check(trace, budget)
        except OomForensicsError as error:
            pytest.fail(f"oom_budget: the memory was not recorded: {error}", pytrace=False)
    over = [f"{each.name}: {each.sentence}" for each in gate.findings if not each.passed]
    if over:
        pytest.fail("oom_budget: " + "\n".join([*over, *gate.holders]), pytrace=False)
    return result
