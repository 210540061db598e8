"""Which files are the tables: a snapshot, replaced as a whole.

    DIR/_snapshots/00000012.json                    the newest number counts
    DIR/incidents/day=2026-11-22/<unique>.parquet   never changed once it is there

A file counts once a snapshot names it. So readers see all of a commit or nothing of it, on a
disk as well as on an object store, and files of workers that died are nobody's.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import Any

from oom_forensics.fleet.schema import SCHEMA_VERSION, TABLES
from oom_forensics.fleet.storage import FleetError, Folder
from oom_forensics.remote.details import modified_ns

_FOLDER = "_snapshots"
_KEPT = 10
# Who reads an older snapshot has so long to finish; a fleet so long to write its files.
_READERS_S = 3600.0
_WRITERS_S = 86400.0


class CommitConflictError(FleetError):
    """Another fleet committed to the same folder meanwhile."""


@dataclass(frozen=True)
class Snapshot:
    """A state of all tables."""

    number: int = 0
    """0: there is none yet."""
    created_ns: int = 0
    files: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in TABLES})
    """By table, paths inside the folder."""
    schema_version: int = SCHEMA_VERSION


def read_snapshot(folder: Folder) -> Snapshot:
    """Returns the newest snapshot.

    Raises:
      FleetError: it is of another version of the schema.
    """
    names = _names(folder)
    if not names:
        return Snapshot()
    snapshot = _read(folder, names[-1])
    if snapshot.schema_version != SCHEMA_VERSION:
        raise FleetError(
            f"The tables in {folder.path} are of schema {snapshot.schema_version}, this"
            f" oom-forensics writes and reads schema {SCHEMA_VERSION}: use another folder."
        )
    return snapshot


def commit(folder: Folder, base: Snapshot, files: dict[str, list[str]]) -> Snapshot:
    """Makes `files` the tables, all at once.

    Args:
      folder: where the tables are.
      base: the snapshot that the new one was made from.
      files: of every table, as Snapshot.files.

    Raises:
      CommitConflictError: `base` is not the newest any more; nothing was changed.
    """
    snapshot = Snapshot(base.number + 1, time.time_ns(), files)
    name = f"{_FOLDER}/{snapshot.number:08d}.json"
    if not folder.create(name, json.dumps(dataclasses.asdict(snapshot)).encode()):
        raise CommitConflictError(
            f"Another fleet wrote to {folder.path} in the meantime; nothing of this one was"
            " kept: run it again."
        )
    return snapshot


def remove_unused(folder: Folder) -> int:
    """Removes files that no snapshot in use names; returns how many.

    That is what commits replaced an hour ago, and what fleets that failed left a day ago.
    """
    names = _names(folder)
    now_ns = time.time_ns()
    snapshots = [_read(folder, name) for name in names[-_KEPT:]]
    # Each stays in use for an hour after the next one has replaced it.
    in_use = [
        each
        for each, next_one in itertools.pairwise(snapshots)
        if now_ns - next_one.created_ns < _READERS_S * 1e9
    ] + snapshots[-1:]
    used = _files_of(in_use)
    replaced = _files_of(snapshots) - used
    unused = [f"{_FOLDER}/{name}" for name in names[:-_KEPT]]
    for table in TABLES:
        for file, details in folder.files_below(table).items():
            written_ns = modified_ns(details)
            # Of a storage that does not say when, nothing is known to be old.
            is_old = written_ns != 0 and now_ns - written_ns > _WRITERS_S * 1e9
            if file in replaced or (file not in used and is_old):
                unused.append(file)
    folder.remove(unused)
    return len(unused)


def _names(folder: Folder) -> list[str]:
    """Returns the snapshots' file names, the newest last."""
    return [name for name in folder.names(_FOLDER) if name.endswith(".json")]


def _read(folder: Folder, name: str) -> Snapshot:
    stored: dict[str, Any] = json.loads(folder.read(f"{_FOLDER}/{name}"))
    return Snapshot(**stored)


def _files_of(snapshots: list[Snapshot]) -> set[str]:
    return {file for each in snapshots for some in each.files.values() for file in some}
