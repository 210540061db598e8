"""Forecasts the train steps of models, then trains them and measures.

    python forecast_then_measure.py LOGDIR MODEL BATCH [MODEL BATCH ...]

Prints a line of JSON for each: what the step was forecast to need, what its recorded peaks
were, in bytes, and what the callback said that was asked about too small a device. A model
whose name begins with "compiled_" is compiled by XLA.
"""

import json
import sys
import warnings
from pathlib import Path

import models
import numpy as np
import oom_forensics

# No step of these models has room in it.
TOO_SMALL_BYTES = 1 << 20


def forecast_then_measure(logdir: Path, name: str, batch: int) -> dict[str, object]:
    """Of one model."""
    model, inputs, targets = models.make(name, batch)
    (forecast,) = oom_forensics.forecast(model, batch_size=batch).forecasts

    three = (np.concatenate([inputs] * 3), np.concatenate([targets] * 3))
    callback = oom_forensics.ForecastCallback(limit_bytes=TOO_SMALL_BYTES)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*three, batch_size=batch, verbose=0, callbacks=[callback])
    with oom_forensics.record(logdir / name):
        model.fit(*three, batch_size=batch, verbose=0)
    with oom_forensics.open(logdir / name) as trace:
        steps = trace.steps().steps
        measured = [each.peak.requested_bytes - forecast.live_bytes for each in steps]
    peaks = [each.peak_in_use_bytes - forecast.live_bytes for each in forecast.orders]
    return {
        "model": name,
        "forecast_low": min(peaks),
        "forecast_high": max(peaks),
        "measured": sorted(measured),
        "unknown": forecast.unknown_count,
        "sentence": forecast.sentence,
        "in_callback": callback.forecast.need.low_bytes if callback.forecast else 0,
        "warnings": [str(each.message) for each in caught],
    }


logdir, *pairs = sys.argv[1:]
for name, batch in zip(pairs[::2], pairs[1::2], strict=True):
    print(json.dumps(forecast_then_measure(Path(logdir), name, int(batch))), flush=True)
