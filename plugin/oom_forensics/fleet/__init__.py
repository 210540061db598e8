"""A fleet of runs: tables of what a team's jobs die of, made by Apache Spark.

    from oom_forensics import fleet

    tables = fleet.connect("s3://bucket/fleet")       # DuckDB, one view per table
    tables.sql("select verdict.kind, count(*) from incidents group by all")
    fleet.dataset("s3://bucket/fleet", "runs").to_table().to_pandas()

`oom-forensics fleet` writes the tables, `oom-forensics fleet-report` asks them; both need
`pip install oom-forensics[fleet]`. docs/fleet.md describes tables and layout.
"""

from oom_forensics.fleet.reading import connect, dataset

__all__ = ["connect", "dataset"]
