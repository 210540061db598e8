"""Changes settings after the first allocation; prints what came of each."""

import oom_forensics
import tensorflow as tf

tf.zeros([1])
for settings in (
    {"min_bytes": 4096},
    {"snapshot_signal": "SIGUSR2"},
    {"max_reports": -1},
    {"logdir": "elsewhere", "max_reports": 2},
):
    try:
        oom_forensics.configure(**settings)
    except (ValueError, oom_forensics.RecorderError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print("set")
