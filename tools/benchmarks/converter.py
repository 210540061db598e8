"""The converter against a bare scan of the same bytes, and against xprof."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# Beside the environment, as it brings a TensorBoard tab of its own (tools/setup).
XPROF = ROOT / ".venv/xprof"
BUILD = ["bazel", "build", "--config=release", "//converter/benchmarks:measure_trace"]


def measure(
    rounds: int,
    *command: str | Path,
    pythonpath: Path | None = None,
    kept_columns: Path | None = None,
) -> dict[str, Any]:
    """Runs a program that prints one JSON object on its last line; its fastest round.

    `process_seconds` are those of the whole process, from its start to its end. Columns are kept
    for the next opening only where a folder for them is given.
    """
    print("  $", *(Path(part).name for part in map(str, command)), file=sys.stderr, flush=True)
    environment = {**os.environ, "OOM_FORENSICS_COLUMNS_MIB": "0"}
    if kept_columns:
        environment |= {
            "OOM_FORENSICS_CACHE": str(kept_columns),
            "OOM_FORENSICS_COLUMNS_MIB": "8192",
        }
    if pythonpath:
        environment["PYTHONPATH"] = str(pythonpath)
    results: list[dict[str, Any]] = []
    for _ in range(rounds):
        start = time.monotonic()
        done = subprocess.run(
            [str(part) for part in command],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        result = json.loads(done.stdout.strip().splitlines()[-1])
        results.append({**result, "process_seconds": time.monotonic() - start})
    return min(results, key=lambda result: float(result.get("seconds", result["process_seconds"])))


def build() -> Path:
    """Builds the measuring program and returns a copy's path that later builds leave alone."""
    subprocess.run(BUILD, cwd=ROOT, check=True)
    query = ["bazel", "info", "--config=release", "bazel-bin"]
    done = subprocess.run(query, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Path(done.stdout.strip()) / "converter/benchmarks/measure_trace"


def compare(
    title: str, trace: Path, program: Path, rounds: int, *, with_xprof: bool = False
) -> list[str]:
    """Measures one trace in every way; returns lines of Markdown."""
    ways = {way: measure(rounds, program, way, trace) for way in ("scan", "load", "datasets")}
    scan, load, datasets = ways["scan"], ways["load"], ways["datasets"]
    events = load["events"]
    lines = [
        f"**{title}**: {trace.stat().st_size / 1e6:.0f} MB, {events:,} memory events, "
        f"{load['bytes_per_event']:.0f} bytes resident each.",
        "",
        "| way | seconds | peak MiB | |",
        "| --- | ---: | ---: | --- |",
        f"| bare scan of the wire | {scan['seconds']:.3f} | {scan['peak_mib']:.0f} | |",
        f"| load + replay | {load['seconds']:.3f} | {load['peak_mib']:.0f} "
        f"| {load['seconds'] / scan['seconds']:.1f} × the scan, "
        f"{load['seconds'] / events * 1e9:.0f} ns an event |",
        f"| load + every dataset once | {datasets['seconds']:.3f} "
        f"| {datasets['peak_mib']:.0f} | {datasets['seconds'] / events * 1e9:.0f} ns an event |",
    ]
    if with_xprof:
        xprof = measure(
            rounds, sys.executable, HERE / "xprof_memory_profile.py", trace, pythonpath=XPROF
        )
        lines.append(
            f"| xprof `memory_profile` | {xprof['seconds']:.3f} | {xprof['peak_mib']:.0f} "
            f"| {xprof['seconds'] / datasets['seconds']:.1f} × our time, "
            f"{xprof['peak_mib'] / datasets['peak_mib']:.1f} × our memory |"
        )
        ours = measure(rounds, sys.executable, HERE / "six_datasets.py", trace)
        lines += [
            f"| six datasets in Python, from its start | {ours['process_seconds']:.3f} "
            f"| {ours['peak_mib']:.0f} | |",
            f"| xprof's one, from its start | {xprof['process_seconds']:.3f} "
            f"| {xprof['peak_mib']:.0f} "
            f"| {xprof['process_seconds'] / ours['process_seconds']:.1f} × our time |",
        ]
    lines += ["", "| view | first ms | again ms | answer |", "| --- | ---: | ---: | ---: |"]
    lines += [
        f"| {row['dataset']} | {row['cold_ms']:.1f} | {row['warm_ms']:.1f} "
        f"| {row['bytes'] / 1024:.0f} KiB |"
        for row in datasets["datasets"]
    ]
    return [*lines, ""]


def opened_again(traces: dict[str, Path], program: Path, rounds: int) -> list[str]:
    """Opens traces by the columns that an opening before has kept; lines of Markdown."""
    lines = [
        "**Opened again**: by the columns that the first opening has kept, to the timeline; the "
        "same six datasets in Python, from its start.",
        "",
        "| | first, seconds | again | | Python, first | again | | kept MB | keeping, seconds |",
        "| --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: |",
    ]
    for name, trace in traces.items():
        with tempfile.TemporaryDirectory() as folder:
            # What was written just now may still change, and is not kept.
            long_ago_s = time.time() - 3600
            os.utime(trace, (long_ago_s, long_ago_s))
            six = HERE / "six_datasets.py"
            first = measure(rounds, program, "open", trace)
            python_first = measure(rounds, sys.executable, six, trace)
            keep = measure(1, program, "keep", trace, kept_columns=Path(folder))
            kept_bytes = sum(entry.stat().st_size for entry in Path(folder).iterdir())
            again = measure(rounds, program, "open", trace, kept_columns=Path(folder))
            # Its converter is another program, which keeps its own.
            for _ in range(2):
                measure(1, sys.executable, six, trace, kept_columns=Path(folder))
            python = measure(rounds, sys.executable, six, trace, kept_columns=Path(folder))
            before_s, after_s = python_first["process_seconds"], python["process_seconds"]
            lines.append(
                f"| {name} | {first['seconds']:.3f} | {again['seconds']:.3f} "
                f"| {first['seconds'] / again['seconds']:.1f} × sooner "
                f"| {before_s:.3f} | {after_s:.3f} | {before_s / after_s:.1f} × sooner "
                f"| {kept_bytes / 1e6:.0f} | {keep['seconds']:.2f} |"
            )
    return [*lines, ""]


def importing(rounds: int) -> list[str]:
    """Times `import oom_forensics` beside Python's own start; lines of Markdown."""
    ways = {"pass": "Python's start", "import oom_forensics": "with `import oom_forensics`"}
    lines = ["**Import**: a new Python, to its end.", "", "| | ms |", "| --- | ---: |"]
    for code, name in ways.items():
        program = f"{code}\nprint('{{}}')"
        seconds = measure(10 * rounds, sys.executable, "-c", program)["process_seconds"]
        lines.append(f"| {name} | {seconds * 1000:.0f} |")
    return [*lines, ""]


def growth(logdir: Path, program: Path, rounds: int, sizes: list[int]) -> list[str]:
    """Loads ever larger traces; lines of Markdown."""
    lines = [
        "**Growth**: load and replay of ever larger synthetic traces.",
        "",
        "| events | seconds | ns an event | bytes resident an event | peak MiB |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for events in sizes:
        trace = logdir / "growing.xplane.pb"
        subprocess.run([program, "make", str(events), trace], check=True)
        load = measure(rounds, program, "load", trace)
        lines.append(
            f"| {load['events']:,} | {load['seconds']:.2f} "
            f"| {load['seconds'] / load['events'] * 1e9:.0f} "
            f"| {load['bytes_per_event']:.0f} | {load['peak_mib']:.0f} |"
        )
        trace.unlink()
    return [*lines, ""]


def what_if(logdir: Path, program: Path, rounds: int, events: int) -> list[str]:
    """Replays the requests of real operations in other limits; lines of Markdown."""
    many_events = HERE / "many_events.py"
    subprocess.run([sys.executable, many_events, logdir, str(events)], check=True)
    trace = next(logdir.glob("plugins/profile/*/*.xplane.pb"))
    scan, load, asked = (
        measure(rounds, program, way, trace) for way in ("scan", "load", "what_if")
    )
    return [
        f"**What if**: real operations, {load['events']:,} memory events; the model places "
        f"{asked['placed_alike']:,} of {asked['requests']:,} where TensorFlow did.",
        "",
        "| question | ms | |",
        "| --- | ---: | --- |",
        f"| bare scan of the wire | {scan['seconds'] * 1000:.0f} | |",
        f"| first question, with the order of serving | {asked['first_ms']:.0f} | |",
        f"| each further limit, with both maps | {asked['warm_ms']:.0f} "
        f"| {asked['seconds'] / scan['seconds']:.1f} × the scan |",
        f"| the smallest limit, {asked['limits']} limits tried | {asked['search_ms']:.0f} | |",
        "",
    ]


def main() -> int:
    """Prints the tables of docs/benchmarks.md."""
    parser = argparse.ArgumentParser(prog="tools/bench converter")
    parser.add_argument("--ops", type=int, default=330_000, help="ops of the real training")
    parser.add_argument("--events", type=int, default=10_000_000, help="of the synthetic trace")
    parser.add_argument("--rounds", type=int, default=3, help="of each the fastest counts")
    options = parser.parse_args()
    program = build()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        logdir = Path(folder)
        print("Recording real training …", file=sys.stderr, flush=True)
        subprocess.run(
            [sys.executable, HERE / "record_stock_trace.py", logdir, str(options.ops)], check=True
        )
        real = next(logdir.glob("plugins/profile/*/*.xplane.pb"))
        title = "Real training, TensorFlow's own events"
        traces = {"real training": real}
        lines += compare(title, real, program, options.rounds, with_xprof=True)
        for events in (options.events // 10, options.events):
            synthetic = logdir / f"synthetic_{events}.xplane.pb"
            subprocess.run([program, "make", str(events), synthetic], check=True)
            traces[f"{events:,} events"] = synthetic
            lines += compare(
                "Synthetic, the collector's events", synthetic, program, options.rounds
            )
        sizes = [options.events // 10, options.events, 5 * options.events]
        lines += opened_again(traces, program, options.rounds)
        lines += growth(logdir, program, options.rounds, sizes)
        lines += importing(options.rounds)
        lines += what_if(logdir / "many", program, options.rounds, options.events // 10)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
