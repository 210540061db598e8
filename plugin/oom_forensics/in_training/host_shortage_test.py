"""How a container that holds much is named in the story of a killed job."""

from __future__ import annotations

import pytest

from oom_forensics.in_training.host_shortage import _name_of
from oom_forensics.in_training.keepers.chains import Chain
from oom_forensics.in_training.keepers.links import Link

KWARGS = Link("dict", "kwargs", "in fit", 4)
CALLBACKS = Link("list", "", "", 1)
CALLBACK = Link("Snapshots", "", "", None)


@pytest.mark.parametrize(
    ("links", "name"),
    [
        ((Link("list", "history", "in train", 9),), "list 'history' in train (9 items)"),
        (
            (KWARGS, CALLBACKS, CALLBACK, Link("list", "snapshots", "", 9)),
            "list 'snapshots' of Snapshots (9 items)",
        ),
        ((Link("dict", "cache", "in main", 2), Link("list", "", "", 9)), None),
        ((Link("list", "", "", 9),), "list (9 items)"),
    ],
)
def test_it_is_named_as_near_to_it_as_it_has_a_name(
    links: tuple[Link, ...], name: str | None
) -> None:
    assert _name_of(Chain(links, ())) == (name or "dict 'cache' in main (2 items)")
