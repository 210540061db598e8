"""Makes the log directory that the browser tests look at, from real runs of TensorFlow.

make_logdir.py LOGDIR

fragmentation/   a demo job that runs out of memory, as it was recorded
leak/            a demo job that leaks, but ends before its memory does
device/          a CONSTRUCTED trace of a CUDA device, not recorded on one:
                 tests/gpu/make_cupti_fixture.cc
no_pool/         a pluggable device without a pool, out of memory
two_hosts/       the same trace from two hosts
hostile/         the same trace with an operation named to break a page
killed/          a job that was killed, told by its black box
truncated/       its first half
empty/           a file without a byte
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from recordings.jobs import profile_in, recorded_demo, recorded_device  # noqa: E402
from recordings.recording import LOGDIR, recorded  # noqa: E402

RUN = "plugins/profile/2026_01_02_03_04_05"
GROW = REPOSITORY / "tests/black_box/scripts/grow.py"
HOSTILE_NAME = '<img src=x onerror="parent.broken=1"><script>parent.broken=1</script>'


def trace_in(logdir: Path) -> bytes:
    """The trace of TensorFlow's profiler."""
    (trace,) = profile_in(logdir).glob("*.xplane.pb")
    return trace.read_bytes()


def put(logdir: Path, run: str, host: str, content: bytes) -> None:
    """Writes a trace where TensorFlow's profiler would."""
    path = logdir / run / RUN / f"{host}.xplane.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def constructed_device() -> bytes:
    """Builds the program that writes a trace of a device, and runs it."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "device.xplane.pb"
        subprocess.run(
            [
                "bazel",
                "run",
                "--config=release",
                "--noshow_progress",
                "--ui_event_filters=-info,-debug",
                "//tests/gpu:make_cupti_fixture",
                "--",
                str(trace),
            ],
            cwd=REPOSITORY,
            check=True,
        )
        return trace.read_bytes()


def killed_job() -> bytes:
    """The trace that is made of a killed job's black box."""
    killed = recorded(
        [sys.executable, GROW, "kill", "100"],
        {
            "CUDA_VISIBLE_DEVICES": "-1",
            "OOM_FORENSICS_HOST": "1",
            "OOM_FORENSICS_LOGDIR": LOGDIR,
        },
        [GROW],
        exit_code=-signal.SIGKILL,
    )
    report = [sys.executable, "-m", "oom_forensics", "report", str(killed.logdir)]
    subprocess.run(report, check=True, stdout=subprocess.DEVNULL)
    (trace,) = killed.logdir.glob("plugins/profile/*_death/*.xplane.pb")
    return trace.read_bytes()


def with_hostile_names(logdir: Path) -> bytes:
    """Renames the operation whose request failed."""
    import oom_forensics
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with oom_forensics.open(logdir) as opened:
        failed = opened.oom_window().ooms[0].request.op_name
    (trace,) = logdir.glob("plugins/profile/*/*.xplane.pb")
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
    trace = trace_in(recorded_demo("fragmentation").logdir)
    put(logdir, "fragmentation", "worker-0", trace)
    leak = recorded_demo("leak", "--steps", "40", exit_code=0)
    put(logdir, "leak", "worker-0", trace_in(leak.logdir))
    put(logdir, "device", "worker-0", constructed_device())
    # A device whose driver gives out each block.
    no_pool = recorded_device(HOSTED_COUNT="1", HOSTED_BFC="0", HOSTED_MIB="64")
    put(logdir, "no_pool", "worker-0", trace_in(no_pool.logdir))
    put(logdir, "two_hosts", "worker-0", trace)
    put(logdir, "two_hosts", "worker-1", trace)
    put(logdir, "hostile", "worker-0", with_hostile_names(logdir / "fragmentation"))
    put(logdir, "killed", "worker-0", killed_job())
    put(logdir, "truncated", "worker-0", trace[: len(trace) // 2])
    put(logdir, "empty", "worker-0", b"")


if __name__ == "__main__":
    main()
