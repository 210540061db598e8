"""Forecasts a step before it happens: of a Keras model or of a `tf.function`.

    oom_forensics.forecast(model, batch_size=64)
    oom_forensics.forecast(train_step, tf.TensorSpec([64, 224, 224, 3]), tf.TensorSpec([64]))

Nothing of the step runs, but it is traced, which calls the user's Python as the first call
would. The answer is the converter's.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oom_forensics.converter.binary import find_converter
from oom_forensics.core.errors import OomForensicsError
from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import trace_file
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.step_forecast import keras_step, plane, step_function
from oom_forensics.in_training.step_forecast.compiled_step import forecast_compiled
from oom_forensics.in_training.step_forecast.forecaster import forecast_step
from oom_forensics.in_training.step_forecast.pools import serves_steps
from oom_forensics.in_training.step_forecast.step_function import StepFunction

# A forecast that is asked for may take longer than one that nobody waits for.
_LIMIT_S = 120.0
_BUSY_FACTOR = 5
_HOST = "localhost"


class ForecastError(OomForensicsError, RuntimeError):
    """There is no forecast; the message is one sentence."""


@dataclass(frozen=True)
class AheadForecast:
    """What steps will need.

    Attributes:
      forecasts: A `StepForecast` of `oom_forensics.datasets` for each batch size.
      text: The same for a terminal.
    """

    forecasts: list[Any]
    text: str

    def __str__(self) -> str:
        return self.text


def forecast(
    model_or_function: Any,
    *specs: Any,
    batch_size: int | Sequence[int] | None = None,
    limit_bytes: int = 0,
) -> AheadForecast:
    """Returns what a step will need, without running one.

    Args:
      model_or_function: A compiled Keras model (its train step is meant), a `tf.function`
        or a ConcreteFunction.
      specs: What the function is called with: `tf.TensorSpec`s, or tensors or arrays of the
        right shape; of a Keras model (x, y) or (x, y, sample_weight), and none at all where
        its inputs and outputs tell the shapes.
      batch_size: For dimensions that the specs leave open (None); several: one forecast
        each.
      limit_bytes: The limit that the answer is about; 0: that of this process's pool, where
        it has one.

    Raises:
      ForecastError: There is none; the message says why.
    """
    sizes = [batch_size] if batch_size is None or isinstance(batch_size, int) else [*batch_size]
    traced = keras_step.traced_step(model_or_function, specs)
    step = step_function.of_concrete(traced.concrete)
    allocator = _allocator()
    made = [_forecast_of(traced, _with_batch(step, size), allocator) for size in sizes]
    missing = next((each.reason for each in made if each.reason), None)
    if missing is not None:
        raise ForecastError(f"There is no forecast: {missing}")
    return _answer(plane.serialized(made), limit_bytes)


def _forecast_of(
    traced: keras_step.TracedStep, step: StepFunction, allocator: str
) -> plane.Forecast:
    if step.compiled and traced.function is not None:
        specs = traced.specs_of(step.batch)
        return forecast_compiled(traced.function, specs, step, allocator)
    deadline = Deadline(_LIMIT_S, busy_factor=_BUSY_FACTOR)
    return forecast_step(step, origin="ahead", deadline=deadline, allocator=allocator)


def _with_batch(step: StepFunction, size: int | None) -> StepFunction:
    """The step called with tensors whose open first dimension is `size`."""
    if size is None:
        return step
    arguments = tuple(
        replace(a, shape=(size, *a.shape[1:])) if a.shape and a.shape[0] is None else a
        for a in step.arguments
    )
    return replace(step, arguments=arguments, batch=size)


def _allocator() -> str:
    """The pool that the step will use: the one of this process that holds most."""
    library = CollectorLibrary.loaded()
    if library is None:
        return ""
    all_pools = library.memory_stats()
    pools = [
        each
        for each in all_pools
        if each.get("limit_bytes") and serves_steps(each["name"], all_pools)
    ]
    largest = max(pools, key=lambda each: each.get("in_use_bytes", 0), default=None)
    return str(largest["name"]) if largest else ""


def _answer(planes: bytes, limit_bytes: int) -> AheadForecast:
    from oom_forensics.trace import Trace

    with tempfile.TemporaryDirectory(prefix="oom_forensics_forecast_") as folder:
        trace = _trace_of_now(Path(folder))
        if trace is None:
            trace = Path(folder) / f"{_HOST}.xplane.pb"
            trace.write_bytes(planes)
        else:
            trace_file.append_planes(trace, planes)
        with Trace(trace) as run:
            answer = run.forecast(limit_bytes=limit_bytes)
        text = subprocess.run(
            find_converter().command("forecast", trace, f"--limit={limit_bytes}"),
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return AheadForecast(answer.forecasts, text)


def _trace_of_now(folder: Path) -> Path | None:
    """What the pools hold at this moment; None: nothing watches them."""
    library = CollectorLibrary.loaded()
    if library is None:
        return None
    run, _ = library.snapshot(str(folder))
    if run is None:
        return None
    return next(iter(Path(run).glob("*.xplane.pb")), None)
