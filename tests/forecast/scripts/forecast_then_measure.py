"""Forecasts the train step of a model, then trains it and measures.

    python forecast_then_measure.py MODEL BATCH LOGDIR

Prints what the step was forecast to need and what its recorded peak was, in bytes.
"""

import json
import sys

import models
import numpy as np
import oom_forensics

name, batch, logdir = sys.argv[1], int(sys.argv[2]), sys.argv[3]
model, inputs, targets = models.make(name, batch)
(forecast,) = oom_forensics.forecast(model, batch_size=batch).forecasts

three = (np.concatenate([inputs] * 3), np.concatenate([targets] * 3))
model.fit(*three, batch_size=batch, verbose=0)
with oom_forensics.record(logdir):
    model.fit(*three, batch_size=batch, verbose=0)
with oom_forensics.open(logdir) as trace:
    steps = trace.steps().steps
    measured = [each.peak.in_use_bytes - each.begin_in_use_bytes for each in steps]
peaks = [each.peak_in_use_bytes - forecast.live_bytes for each in forecast.orders]
print(
    json.dumps(
        {
            "forecast_low": min(peaks),
            "forecast_high": max(peaks),
            "measured": sorted(measured),
            "unknown": forecast.unknown_count,
            "sentence": forecast.sentence,
        }
    )
)
