"""CAPTURE PROFILE, as TensorBoard asks for it over the network, during a recording.

Argument: the logdir. Another process asks; no Python runs here when that profile ends.
"""

import socket
import subprocess
import sys
import time
from pathlib import Path

import oom_forensics
import tensorflow as tf

ASK = """
import sys
from tensorflow.python.profiler import profiler_client
profiler_client.trace(sys.argv[1], sys.argv[2], 1000)
"""
logdir = Path(sys.argv[1])
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    port = found.getsockname()[1]
tf.profiler.experimental.server.start(port)
tf.zeros([1])
with oom_forensics.record(logdir / "record"):
    before = tf.fill([100, 100], 1.0)
    asker = subprocess.Popen(
        [sys.executable, "-c", ASK, f"grpc://127.0.0.1:{port}", str(logdir / "profile")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while asker.poll() is None:
        during = tf.fill([200, 100], 1.0)
        time.sleep(0.01)
after = tf.fill([300, 100], 1.0)
output = asker.communicate()[0]
if asker.returncode != 0:
    sys.exit(output)
