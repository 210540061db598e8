"""What is in a wheel."""

from __future__ import annotations

import email
import email.message
import zipfile
from pathlib import Path


def names_in(wheel: Path) -> list[str]:
    """Returns the paths of its files."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def metadata_text(wheel: Path) -> str:
    """Returns its METADATA."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        return archive.read(name).decode()


def metadata_of(wheel: Path) -> email.message.Message:
    """Returns its METADATA, by field."""
    return email.message_from_string(metadata_text(wheel))
