"""`oom-forensics metrics`: the running jobs of this user, for Prometheus.

    oom-forensics metrics --port=9464

A scrape asks each job once. Nothing runs in the jobs for it, and a job that ends is no longer
shown. The official client library serves the page; names follow OpenTelemetry's conventions for
units and attributes (`process_pid`, `hw_name` for the device).
"""

from __future__ import annotations

import argparse
import contextlib
import threading
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from oom_forensics.live.jobs import LiveError, live_processes

# Metric, the field of an allocator's state, and what it is.
_GAUGES = (
    ("tensorflow_memory_usage_bytes", "in_use_bytes", "Bytes in use by tensors."),
    ("tensorflow_memory_usage_peak_bytes", "peak_in_use_bytes", "The most in use at once."),
    ("tensorflow_memory_reserved_bytes", "reserved_bytes", "Bytes that the pool holds."),
    ("tensorflow_memory_limit_bytes", "limit_bytes", "The most that the pool may hold."),
)
_LABELS = ("process_pid", "tensorflow_allocator", "hw_name")


class LiveJobs(Collector):
    """Asks the jobs at each scrape."""

    def collect(self) -> Iterator[Metric]:
        """The families of metrics, each with all jobs."""
        gauges = {
            field: GaugeMetricFamily(name, text, labels=_LABELS) for name, field, text in _GAUGES
        }
        growth = GaugeMetricFamily(
            "tensorflow_memory_growth_bytes_per_second",
            "How fast use grows; missing where it does not.",
            labels=("process_pid", "tensorflow_allocator"),
        )
        full = GaugeMetricFamily(
            "tensorflow_memory_full_seconds",
            "Time until the limit is reached if use goes on growing so.",
            labels=("process_pid", "tensorflow_allocator"),
        )
        step = GaugeMetricFamily(
            "tensorflow_training_step", "The training step under way.", labels=("process_pid",)
        )
        ooms = CounterMetricFamily(
            "tensorflow_memory_out_of_memory",
            "Requests that were refused, by verdict.",
            labels=("process_pid", "verdict"),
        )
        for process, state in live_processes():
            pid = str(process.pid)
            for each in state["allocators"]:
                labels = (pid, each["name"], each.get("device", ""))
                for field, gauge in gauges.items():
                    if field in each:
                        gauge.add_metric(labels, each[field])
            for trend in state["trends"]:
                growth.add_metric((pid, trend["allocator"]), trend["bytes_per_second"])
                if "seconds_until_full" in trend:
                    full.add_metric((pid, trend["allocator"]), trend["seconds_until_full"])
            if "step" in state:
                step.add_metric((pid,), state["step"])
            # A rate needs where it began; and a job's collector may be older.
            for verdict, count in {"UNKNOWN": 0, **state.get("verdicts", {})}.items():
                ooms.add_metric((pid, verdict), count)
        yield from (*gauges.values(), growth, full, step, ooms)


def main(arguments: Sequence[str]) -> int:
    """Serves until it is ended; `arguments` are those after "metrics"."""
    options = _parser().parse_args(list(arguments))
    registry = CollectorRegistry()
    # Its registry asks it once at once, to learn the names.
    registry.register(LiveJobs())
    try:
        server, _ = start_http_server(options.port, options.address, registry)
    except OSError as error:
        where = f"{options.address}:{options.port}"
        raise LiveError(f"Cannot listen at {where}: {error.strerror}.") from None
    print(f"http://{options.address}:{server.server_port}/metrics", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oom-forensics metrics",
        description="Serves the memory of the running jobs of this user to Prometheus.",
    )
    parser.add_argument("--port", type=int, default=9464, help="default 9464; 0: any free port")
    parser.add_argument("--address", default="127.0.0.1", help="127.0.0.1: this machine alone")
    return parser
