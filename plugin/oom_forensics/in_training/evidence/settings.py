"""The settings of what Python adds to a run; the collector keeps them (settings.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oom_forensics.in_training.collector_library import CollectorLibrary


@dataclass(frozen=True)
class EvidenceSettings:
    """As they are at this moment; see `oom_forensics.configure`."""

    evidence: bool
    source_lines: bool
    keepers: bool
    forecast: bool
    user_paths: str
    library_paths: str
    source_paths: Literal["full", "project", "none"]

    @classmethod
    def now(cls, library: CollectorLibrary) -> EvidenceSettings:
        """Asks the collector."""
        return cls(**library.status()["evidence"])
