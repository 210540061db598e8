"""The tables for readers: as Arrow datasets, and as views of DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs

from oom_forensics.fleet.schema import TABLES
from oom_forensics.fleet.snapshot import Snapshot, read_snapshot
from oom_forensics.fleet.storage import FleetError, Folder

if TYPE_CHECKING:
    import duckdb

_DAY = pa.field("day", pa.string())


def dataset(url: str, table: str) -> pyarrow.dataset.Dataset:
    """Returns a table as it was last committed, with the column `day` of its partitions.

    Raises:
      FleetError: there are no tables in that folder.
    """
    folder = Folder(url)
    return table_of(folder, _newest(folder), table)


def connect(url: str) -> duckdb.DuckDBPyConnection:
    """Returns DuckDB with a view for each table, all of one snapshot.

    Raises:
      FleetError: there are no tables in that folder.
    """
    import duckdb

    folder = Folder(url)
    snapshot = _newest(folder)
    connection = duckdb.connect()
    for name in TABLES:
        connection.register(name, table_of(folder, snapshot, name))
    return connection


def table_of(folder: Folder, snapshot: Snapshot, table: str) -> pyarrow.dataset.Dataset:
    """Returns a table of a snapshot."""
    schema = TABLES[table].schema.append(_DAY)
    files = [folder.inside(file) for file in snapshot.files[table]]
    if not files:
        return pyarrow.dataset.dataset(schema.empty_table())
    filesystem = folder.filesystem
    if folder.is_local:
        filesystem = pyarrow.fs.LocalFileSystem()
    return pyarrow.dataset.dataset(
        files,
        schema=schema,
        format="parquet",
        filesystem=filesystem,
        partitioning=pyarrow.dataset.partitioning(pa.schema([_DAY]), flavor="hive"),
        partition_base_dir=folder.path,
    )


def _newest(folder: Folder) -> Snapshot:
    snapshot = read_snapshot(folder)
    if snapshot.number == 0:
        raise FleetError(
            f"There are no tables in {folder.path}; `oom-forensics fleet` writes them."
        )
    return snapshot
