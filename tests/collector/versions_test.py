"""The collector on the oldest TensorFlow that is supported; the other tests run on the newest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = "tensorflow-plugins"


def test_the_oldest_supported_tensorflow_is_recognised_wholly() -> None:
    version = (ROOT / "tools/tensorflow_versions.txt").read_text().split()[-1]
    # tools/setup has made it.
    environment = ROOT / f".cache/tensorflow-{version}"
    (site_packages,) = environment.glob("lib/python*/site-packages")
    installed = Path(sysconfig.get_path("purelib")) / PLUGINS
    shutil.rmtree(site_packages / PLUGINS, ignore_errors=True)
    shutil.copytree(installed, site_packages / PLUGINS)
    done = subprocess.run(
        [environment / "bin/python", ROOT / "tools/versions/try_one.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "plugin"), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"TensorFlow {version}: " in done.stdout
