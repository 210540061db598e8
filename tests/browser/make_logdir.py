"""Makes the log directory that the browser tests look at, all from one real out-of-memory.

make_logdir.py LOGDIR

fragmentation/   the demo job, as it was recorded
two_hosts/       the same trace from two hosts
hostile/         the same trace with an operation named to break a page
truncated/       its first half
empty/           a file without a byte
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
RUN = "plugins/profile/2026_01_02_03_04_05"
HOSTILE_NAME = '<img src=x onerror="parent.broken=1"><script>parent.broken=1</script>'
OUT_OF_MEMORY = 3


def train(logdir: Path) -> Path:
    """Trains the demo job until it runs out of memory; returns its trace."""
    job = subprocess.run(
        [sys.executable, "-m", "demos.fragmentation", "--logdir", str(logdir)],
        cwd=REPOSITORY / "tools",
        check=False,
    )
    if job.returncode != OUT_OF_MEMORY:
        sys.exit(f"the demo job was to run out of memory; it exited with {job.returncode}")
    (trace,) = logdir.glob("plugins/profile/*[0-9]/*.xplane.pb")
    return trace


def put(logdir: Path, run: str, host: str, content: bytes) -> None:
    """Writes a trace where TensorFlow's profiler would."""
    path = logdir / run / RUN / f"{host}.xplane.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def with_hostile_names(trace: Path) -> bytes:
    """Renames the operation whose request failed."""
    import oom_forensics
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with oom_forensics.open(trace) as opened:
        failed = opened.oom_window().ooms[0].request.op_name
    space = xplane_pb2.XSpace.FromString(trace.read_bytes())
    renamed = 0
    for plane in space.planes:
        for table in (plane.event_metadata, plane.stat_metadata):
            for entry in table.values():
                if failed in entry.name:
                    entry.name = HOSTILE_NAME
                    renamed += 1
    if not renamed:
        sys.exit(f"the trace has no name {failed}")
    return bytes(space.SerializeToString())


def main() -> None:
    """Makes all runs."""
    logdir = Path(sys.argv[1])
    recorded = train(logdir / "fragmentation")
    trace = recorded.read_bytes()
    hostile = with_hostile_names(recorded)
    shutil.rmtree(logdir / "fragmentation" / "plugins")
    put(logdir, "fragmentation", "worker-0", trace)
    put(logdir, "two_hosts", "worker-0", trace)
    put(logdir, "two_hosts", "worker-1", trace)
    put(logdir, "hostile", "worker-0", hostile)
    put(logdir, "truncated", "worker-0", trace[: len(trace) // 2])
    put(logdir, "empty", "worker-0", b"")


if __name__ == "__main__":
    main()
