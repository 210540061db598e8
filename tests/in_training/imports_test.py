"""However TensorFlow is imported, what Python knows is in the runs."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

from recordings.recording import LOGDIR, Recording

RunPython = Callable[..., subprocess.CompletedProcess[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
SCRIPTS = Path(__file__).parent / "scripts"
_STATISTICS = """
import tensorflow as tf, oom_forensics
tf.zeros([1000])
print([each["name"] for each in oom_forensics.memory_stats()])
"""


def test_in_a_thread_that_the_main_thread_waits_for(
    record: Callable[..., Recording], command: Command
) -> None:
    recording = record(SCRIPTS / "in_thread.py", LOGDIR)
    (run,) = recording.logdir.glob("plugins/profile/*_snapshot")
    told = command("report", "--full", run).stdout
    assert "list 'kept' in work (in_thread.py:" in told
    assert "kept: list[Any] = [tf.zeros([1 << 20])]" in told


def test_with_two_installations_on_the_path_one_works_and_is_asked(
    run_python: RunPython, tmp_path: Path
) -> None:
    site_packages = tmp_path / "site-packages"
    installed = Path(sysconfig.get_path("purelib"))
    for name in ("oom_forensics", "tensorflow-plugins"):
        shutil.copytree(installed / name, site_packages / name)
    script = tmp_path / "script.py"
    script.write_text(_STATISTICS)
    done = run_python(script, PYTHONPATH=str(site_packages))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['bfc_cpu_allocator_for_gpu#0']\n"
    assert "OOM Forensics" not in done.stderr
