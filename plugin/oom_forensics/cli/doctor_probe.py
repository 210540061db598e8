"""What `oom-forensics doctor` runs in a process of its own.

Imports TensorFlow as a user's program does, and writes what happened as one line of
JSON. A TensorFlow that cannot be imported, or dies, ends only this process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def probe() -> dict[str, Any]:
    """Returns the facts about TensorFlow and the collector in this environment."""
    try:
        import tensorflow as tf
    except ImportError as error:
        return {"tensorflowError": str(error)}
    from oom_forensics.in_training.collector_library import CollectorLibrary, loaded_path

    facts: dict[str, Any] = {
        "tensorflow": tf.__version__,
        "tensorflowFolder": os.path.dirname(tf.__file__),
        "builtWithCuda": tf.test.is_built_with_cuda(),
        "gpus": [device.name for device in tf.config.list_physical_devices("GPU")],
    }
    library = CollectorLibrary.loaded()
    if library is not None:
        facts["collector"] = str(loaded_path())
        facts["status"] = library.status()
    return facts


if __name__ == "__main__":
    # TensorFlow itself may write to stdout; the answer is the last line.
    sys.stdout.write("\n" + json.dumps(probe()) + "\n")
