"""What TensorBoard imports at its start.

An exception at the import of this module would end TensorBoard, so it knows
nothing but TensorBoard's own base class; the plugin is imported inside `load`.
"""

from __future__ import annotations

import logging
from typing import Any

from tensorboard.plugins import base_plugin

_log = logging.getLogger(__name__)


class OomForensicsLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Loads the OOM Forensics tab, or leaves TensorBoard as it is."""

    def load(self, context: Any) -> Any | None:
        """Returns the plugin; None, with one log line, where it cannot be loaded."""
        try:
            from oom_forensics.tensorboard.plugin import OomForensicsPlugin

            return OomForensicsPlugin(context)
        except Exception:
            _log.exception("The OOM Forensics tab cannot be loaded.")
            return None
