"""The recorder in this process: settings, snapshots, statistics, the last report.

    import oom_forensics

    oom_forensics.configure(logdir="logs", min_bytes=4096)   # before the first tensor
    import tensorflow as tf
    ...
    oom_forensics.snapshot("logs")
    for allocator in oom_forensics.memory_stats():
        print(allocator["name"], allocator["in_use_bytes"])

The recorder itself is the collector, which TensorFlow loads; it works without this
module. Everything here asks it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import oom_forensics
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.in_training.collector_library import (
    PATH_IN_SITE_PACKAGES,
    CollectorLibrary,
)
from oom_forensics.in_training.evidence.moments import add_to_written_runs
from oom_forensics.remote.addresses import whole_path

if TYPE_CHECKING:
    from oom_forensics.trace import Trace

_VARIABLES = {"enabled": "OOM_FORENSICS"}


class RecorderError(OomForensicsError, RuntimeError):
    """The recorder cannot do what was asked; the message is one sentence."""


def configure(
    *,
    enabled: bool | None = None,
    allocation_log_buffer_size: int | None = None,
    allocation_log_sampling_rate: float | None = None,
    min_bytes: int | None = None,
    anonymize_addresses: bool | None = None,
    logdir: str | os.PathLike[str] | None = None,
    max_reports: int | None = None,
    max_hold_seconds: int | None = None,
    max_module_bytes: int | None = None,
    snapshot_signal: str | None = None,
    capture_events: int | None = None,
    live: bool | None = None,
    snapshot_at: str | None = None,
    evidence: bool | None = None,
    source_lines: bool | None = None,
    keepers: bool | None = None,
    forecast: bool | None = None,
    user_paths: Sequence[str | os.PathLike[str]] | None = None,
    library_paths: Sequence[str | os.PathLike[str]] | None = None,
    source_paths: Literal["full", "project", "none"] | None = None,
) -> None:
    """Changes settings; those that are None stay as they are.

    Before `import tensorflow` all can be set. After it: `enabled`, `logdir`,
    `max_reports`, `max_hold_seconds`, `max_module_bytes`, `anonymize_addresses`, `snapshot_at`
    and those from `evidence` on at any time, what decides which events are kept before the
    first allocation only. The environment variables OOM_FORENSICS_<NAME> (OOM_FORENSICS for
    `enabled`) say the same.

    Args:
      enabled: False takes the collector out of TensorFlow again.
      allocation_log_buffer_size: Events that the recorder keeps; 100 000.
      allocation_log_sampling_rate: The share of the allocations below 1 MiB that is
        recorded, above 0 and at most 1; 1.
      min_bytes: Smaller requests are counted but not recorded; 0.
      anonymize_addresses: Whether reports hold shifted addresses; False.
      logdir: Where reports go. By default the logdir of a profiler session or a
        TensorBoard callback of this process, else a folder for temporary files. Of a URL
        (gs://, s3://, ...) they go to that folder, and a copy to the URL.
      max_reports: How many out-of-memories are reported before they are only
        counted; 5.
      max_hold_seconds: For how long a refused request is held, at most, until its report is
        on disk; 5.
      max_module_bytes: How many bytes of the modules that XLA compiled go into a run;
        32 MiB.
      snapshot_signal: "SIGUSR1" or "SIGUSR2" writes a snapshot; none.
      capture_events: Events that one profiler session keeps; 8 000 000.
      live: Whether programs of the same user may ask how this one is doing
        (`oom-forensics watch`); True.
      snapshot_at: When a snapshot is written before anything has failed, looked at as each
        training step begins: "limit:0.9" (that share of the limit was in use), "new_peak",
        "growth:20" (use grew in that many steps in a row), or several with commas; three of
        each kind at most; none.
      evidence: Whether Python adds to a run what only it knows (docs/source-lines.md):
        source lines, who keeps the memory; True.
      source_lines: Whether the user's source lines are recorded; True.
      keepers: Whether a report says which Python objects keep live tensors; True.
      forecast: Whether a step that runs out of memory is forecast to its end
        (docs/forecast.md), which takes up to 5 s of the first three; True.
      user_paths: Folders whose code counts as the user's though it is installed.
      library_paths: Folders whose code counts as a library's though it is not.
      source_paths: How the path of a source file stands in a run: "full", "project"
        (relative to the project's folder, of other files the name alone) or "none".

    Raises:
      ValueError: A value is not possible; the message says what is.
      RecorderError: The setting cannot be changed any more.
    """
    settings: dict[str, object] = {
        name: value for name, value in locals().items() if value is not None
    }
    library = _library()
    texts = {name: _text(name, value) for name, value in settings.items()}
    for name, text in texts.items():
        error = library.check_setting(name, text)
        if error is not None:
            raise ValueError(error)
    for name, text in texts.items():
        if library.is_active():
            error = library.configure(name, text)
            if error is not None:
                raise RecorderError(error)
        else:
            os.environ[_VARIABLES.get(name, f"OOM_FORENSICS_{name.upper()}")] = text


def snapshot(logdir: str | os.PathLike[str] | None = None) -> Trace:
    """Writes what the recorder holds now, as at an out-of-memory, and opens it.

    Args:
      logdir: Where to; by default where reports go.

    Returns:
      The trace; its `path` is the run's folder, for `oom-forensics report` and the tab. Of a
      URL the local one, of which a copy goes to the URL.

    Raises:
      RecorderError: It cannot be written, or TensorFlow is not imported.
    """
    library = _library()
    folder, error = library.snapshot("" if logdir is None else whole_path(os.fspath(logdir)))
    if folder is None:
        raise RecorderError(error)
    add_to_written_runs(library, sys._getframe(1))
    return oom_forensics.open(folder)


@contextlib.contextmanager
def record(logdir: str | os.PathLike[str]) -> Iterator[None]:
    """Records every allocation of its body into a run folder of `logdir`.

    As `tf.profiler.experimental.Profile` does, but without TensorFlow's profiler and
    what that costs; the trace holds the allocators' planes only. Both may run at once.

    Raises:
      RecorderError: The trace cannot be written, a recording runs already, or TensorFlow
        is not imported.
    """
    library = _library()
    began_s = time.monotonic()
    problem = library.start_recording()
    if problem is not None:
        raise RecorderError(problem)
    try:
        yield
    finally:
        folder, error = library.stop_recording(whole_path(os.fspath(logdir)))
        add_to_written_runs(library, began_s=began_s)
    if folder is None:
        raise RecorderError(error)


def memory_stats() -> list[dict[str, Any]]:
    """Returns the state of every allocator of this process, as it is now.

    Each has `name` and `kind`, and as far as the allocator tells: `allocations`,
    `in_use_bytes`, `peak_in_use_bytes`, `largest_allocation_bytes`, `limit_bytes`,
    `requested_bytes`, `reserved_bytes`, `free_bytes`, `largest_free_bytes`,
    `fragmentation`, `chunks_in_use`, `chunks_free`, `regions` and `bins`. Where the collector
    had no room for further allocators, one of the kind "unknown" stands for them, with
    `unrecorded_requests`.
    """
    return _library().memory_stats()


def last_report() -> Trace | None:
    """Opens the run that the last out-of-memory or snapshot left; None without one.

    Its `report()` is the story in fifteen lines, its `oom_window()` the same as numbers.
    """
    folder = _library().last_run()
    return None if folder is None else oom_forensics.open(folder)


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if name == "logdir":
        return whole_path(os.fspath(value))  # type: ignore[call-overload]
    if name in ("user_paths", "library_paths"):
        return os.pathsep.join(os.path.abspath(path) for path in value)  # type: ignore[attr-defined]
    return str(value)


def _library() -> CollectorLibrary:
    library = CollectorLibrary.loaded()
    if library is None:
        path = Path(__file__).resolve().parents[2] / PATH_IN_SITE_PACKAGES
        if not path.exists():
            raise RecorderError(
                f"the collector is not installed ({path} is not there);"
                " `oom-forensics doctor` says more"
            )
        library = CollectorLibrary(path)
    return library
