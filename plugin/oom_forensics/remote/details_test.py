"""Details as the file systems give them that people have."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from oom_forensics.remote.details import content_tag, modified_ns

NOON = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
NS = int(NOON.timestamp()) * 10**9


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ({"mtime": NOON.timestamp(), "created": 1.0}, NS),  # a local disk
        ({"LastModified": NOON}, NS),  # S3
        ({"updated": "2026-11-22T12:00:00.000Z", "timeCreated": "x"}, NS),  # Google Cloud
        ({"mtime": NOON.replace(tzinfo=None)}, NS),  # HDFS: of no zone, in UTC
        ({"last_modified": NOON.astimezone(timezone(timedelta(hours=5)))}, NS),
        ({"mtime": "at noon", "created": NOON}, NS),
        ({"name": "x", "size": 1}, 0),
    ],
)
def test_when_a_file_was_written(details: dict[str, Any], expected: int) -> None:
    assert modified_ns(details) == expected


def test_what_differs_with_the_content() -> None:
    assert content_tag({"ETag": '"1b2c"'}) == '"1b2c"'
    assert content_tag({"md5Hash": "abc=", "etag": ""}) == "abc="
    assert content_tag({"mtime": 1.0}) == ""
