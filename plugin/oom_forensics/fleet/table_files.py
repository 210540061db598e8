"""The Parquet files of the tables: what workers write, and write again without old rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from oom_forensics.fleet.schema import TABLES
from oom_forensics.fleet.storage import Folder

_ROWS_AT_A_TIME = 5_000

Partition = tuple[str, str]
"""Table and day."""


class TableFile(NamedTuple):
    """A file that was written."""

    table: str
    path: str
    """Inside the folder."""
    row_count: int


def write_partitions(
    url: str, rows: Iterable[tuple[Partition, list[dict[str, Any]]]]
) -> Iterator[TableFile]:
    """Writes rows that come sorted by partition; yields each new file."""
    folder = Folder(url)
    current: Partition | None = None
    writer: _Writer | None = None
    for partition, some in rows:
        if writer is None or partition != current:
            if writer is not None:
                yield writer.close()
            current, writer = partition, _Writer(folder, partition)
        writer.add(some)
    if writer is not None:
        yield writer.close()


def write_without(url: str, file: str, run_ids: set[str]) -> str | None:
    """Writes a file again without the rows of some runs, beside it.

    Returns:
      The new file's path inside the folder; `file` itself where it has none of them; None
      where nothing is left.
    """
    folder = Folder(url)
    old = pa.parquet.read_table(
        folder.inside(file), filesystem=folder.filesystem, partitioning=None
    )
    kept = old.filter(
        pa.compute.invert(pa.compute.is_in(old["run_id"], pa.array(sorted(run_ids), pa.string())))
    )
    if kept.num_rows == old.num_rows:
        return file
    if kept.num_rows == 0:
        return None
    path = f"{file.rpartition('/')[0]}/{uuid.uuid4().hex}.parquet"
    pa.parquet.write_table(
        kept, folder.inside(path), filesystem=folder.filesystem, compression="zstd"
    )
    return path


class _Writer:
    """One file of a partition, under a name that no other attempt has."""

    def __init__(self, folder: Folder, partition: Partition) -> None:
        self._table, day = partition
        self._path = f"{self._table}/day={day}/{uuid.uuid4().hex}.parquet"
        self._schema = TABLES[self._table].schema
        self._waiting: list[dict[str, Any]] = []
        self._row_count = 0
        path = folder.inside(self._path)
        folder.filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._parquet = pa.parquet.ParquetWriter(
            path, self._schema, filesystem=folder.filesystem, compression="zstd"
        )

    def add(self, rows: list[dict[str, Any]]) -> None:
        self._waiting += rows
        if len(self._waiting) >= _ROWS_AT_A_TIME:
            self._write()

    def close(self) -> TableFile:
        if self._waiting:
            self._write()
        self._parquet.close()
        return TableFile(self._table, self._path, self._row_count)

    def _write(self) -> None:
        self._row_count += len(self._waiting)
        self._parquet.write_table(pa.Table.from_pylist(self._waiting, self._schema))
        self._waiting = []
