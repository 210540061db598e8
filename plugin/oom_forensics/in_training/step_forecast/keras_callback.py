"""A Keras callback that warns before the first batch if the step will not fit."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import keras

from oom_forensics.datasets import ForecastFit
from oom_forensics.in_training.step_forecast.ahead import ForecastError, forecast
from oom_forensics.in_training.step_forecast.element_shapes import element_specs


class ForecastCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Forecasts the first train step of `fit` before it runs; it traces the step once more.

        model.fit(..., callbacks=[oom_forensics.ForecastCallback()])

    The forecast stays in `forecast`; None: there was none, and a warning says why.
    """

    def __init__(self, limit_bytes: int = 0) -> None:
        """`limit_bytes`: of the device that is meant; 0: of this process's pool."""
        super().__init__()
        self._limit_bytes = limit_bytes
        self._asked = False
        self.forecast: Any = None

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Asks once, at the first batch."""
        del batch, logs
        if self._asked:
            return
        self._asked = True
        try:
            specs = element_specs(sys._getframe(1))
            made = forecast(self.model, *(specs or ()), limit_bytes=self._limit_bytes)
        except ForecastError as error:
            warnings.warn(str(error), stacklevel=2)
            return
        self.forecast = made.forecasts[-1]
        if self.forecast.need.fit in (
            ForecastFit.FORECAST_DOES_NOT_FIT,
            ForecastFit.FORECAST_UNCERTAIN,
        ):
            warnings.warn(f"OOM Forensics: {self.forecast.sentence}", stacklevel=2)
