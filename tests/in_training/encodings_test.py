"""A program whose source or folder is not UTF-8 has runs that every reader can read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]

_LATIN_1 = """# -*- coding: latin-1 -*-
import tensorflow as tf
gr\xf6\xdfe = [tf.zeros([8 << 18]) for _ in range(2)]  # f\xfcr sp\xe4ter
tf.zeros([400 << 18])  # zu gro\xdf
""".encode("latin-1")
# The text of a line is cut at 300 bytes, here within the last "ü".
_CUT = f"""import tensorflow as tf
größe = [tf.zeros([8 << 18])]  # {"ü" * 200}
grösse = [tf.zeros([8 << 18])]  #  {"ü" * 200}
tf.zeros([400 << 18])  # zu groß
""".encode()


@pytest.mark.parametrize(
    ("source", "logdir", "last"),
    [
        (_LATIN_1, b"logdir", "gro\ufffd"),
        (_CUT, b"logdir", "groß"),
        (_LATIN_1, b"gr\xf6\xdfe", "gro\ufffd"),
    ],
    ids=["latin-1", "cut within a character", "a logdir in latin-1"],
)
def test_a_run_of_it_is_parsed_and_tells_its_lines(
    run_python: RunPython,
    command: Command,
    tmp_path: Path,
    source: bytes,
    logdir: bytes,
    last: str,
) -> None:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    script = tmp_path / "program.py"
    script.write_bytes(source)
    folder = tmp_path / os.fsdecode(logdir)
    done = run_python(script, OOM_FORENSICS_LOGDIR=str(folder), OOM_FORENSICS_KEEPERS="0")
    assert "ResourceExhaustedError" in done.stderr
    assert f"program.py:4: tf.zeros([400 << 18])  # zu {last}\n" in done.stderr
    assert "lacks what Python knows" not in done.stderr
    (trace,) = folder.glob("plugins/profile/*_oom/*.xplane.pb")
    planes = xplane_pb2.XSpace.FromString(trace.read_bytes()).planes
    texts = {
        stat.str_value
        for plane in planes
        for record in plane.event_metadata.values()
        for stat in record.stats
        if record.name == "line"
    }
    assert any("tf.zeros([8 << 18])" in text for text in texts), texts
    told = command("report", "--full", trace)
    assert told.returncode == 0
    assert "tf.zeros([400 << 18])" in told.stdout
    assert "not UTF-8" not in told.stdout + told.stderr
