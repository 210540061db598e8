"""xprof opens a trace that has our planes in it, as it opens one without them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from recordings.jobs import profile_in
from recordings.recording import LOGDIR

HERE = Path(__file__).parent
WORKLOAD = HERE.parent / "truth/workloads/eager_fragmentation.py"
XPROF = Path(sys.prefix) / "xprof"


def opened(record: Any, run_python: Any, folder: Path, **environment: str) -> dict[str, Any]:
    """Records the workload, and returns what xprof makes of its trace."""
    died = record(
        WORKLOAD,
        LOGDIR,
        exit_code=None,
        says="OOM when allocating tensor",
        # As in the truth test, which looks at the same recording.
        TF_BFC_MEMORY_DUMP=f"{LOGDIR}/dump",
        **environment,
    )
    # xprof writes beside a trace.
    shutil.copytree(profile_in(died.logdir), folder, dirs_exist_ok=True)
    (trace,) = folder.glob("*.xplane.pb")
    converted = run_python(HERE / "open_in_xprof.py", trace, PYTHONPATH=str(XPROF))
    assert converted.returncode == 0, converted.stderr
    answer: dict[str, Any] = json.loads(converted.stdout.splitlines()[-1])
    return answer


@pytest.fixture(scope="module")
def with_us(
    record: Any, run_python: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    return opened(record, run_python, tmp_path_factory.mktemp("with_us"))


@pytest.fixture(scope="module")
def without_us(
    record: Any, run_python: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("without_us")
    return opened(record, run_python, folder, OOM_FORENSICS="0")


def test_it_offers_the_same_tools(with_us: Any, without_us: Any) -> None:
    assert with_us["tools"] == without_us["tools"]
    assert "memory_profile" in with_us["tools"]


def test_its_tools_answer_as_much_as_without_us(with_us: Any, without_us: Any) -> None:
    for tool, size in without_us["answers"].items():
        assert size > 0
        assert with_us["answers"][tool] == pytest.approx(size, rel=0.2), tool
