"""The model of TensorFlow's allocator does what the allocator itself does.

Random requests and releases under random settings, over memory that grants, refuses and places
regions as it likes: every address, every refusal, every region and chunk is the same. The long run
is `tools/try_bfc_model 20000000`.
"""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import bfc_in_step as in_step
import pytest

OPERATIONS = 500_000


@pytest.fixture(scope="module", params=in_step.tensorflows().items(), ids=lambda found: found[0])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    version, folder = request.param
    built: Path = tmp_path_factory.mktemp(f"tensorflow-{version}") / "in_step"
    in_step.build(folder, built)
    return built


def test_tensorflows_allocator_and_the_model_go_in_step(program: Path) -> None:
    done = in_step.run(program, OPERATIONS)
    assert done.returncode == 0, done.stdout
    assert done.stdout == f"{OPERATIONS} operations alike\n"


def test_allocators_that_come_and_go_may_be_asked_at_any_moment(
    program: Path, tmp_path: Path
) -> None:
    """With the collector's hooks in place, and a thread that asks it for their state."""
    site_packages = Path(sysconfig.get_path("purelib"))
    collector = site_packages / "tensorflow-plugins/oom_forensics/liboom_forensics_collector.so"
    done = in_step.run(
        program,
        OPERATIONS,
        1,
        collector,
        OOM_FORENSICS_LOGDIR=str(tmp_path),
        # So that the table's slots are soon taken again.
        OOM_FORENSICS_ALLOCATION_LOG_BUFFER_SIZE="1000",
        # Freed memory does not look as it did.
        MALLOC_PERTURB_="165",
    )
    alike, told = done.stdout.splitlines()
    assert alike == f"{OPERATIONS} operations alike"
    assert int(told.split()[1]) > 100
    assert done.returncode == 0


def test_a_model_that_splits_otherwise_is_found_out(tmp_path: Path) -> None:
    """The test can fail: a rule of the model changed, and they are no longer in step."""
    source = (in_step.ROOT / "converter/bfc/bfc_regions.cc").read_text()
    changed, count = re.subn(r"if \(!enlarged\) next_bytes", "next_bytes", source)
    assert count == 1
    (tmp_path / "bfc_regions.cc").write_text(changed)
    sources = [
        tmp_path / "bfc_regions.cc" if path.name == "bfc_regions.cc" else path
        for path in in_step.SOURCES
    ]
    folder = next(iter(in_step.tensorflows().values()))
    in_step.build(folder, tmp_path / "in_step", sources)
    done = in_step.run(tmp_path / "in_step", OPERATIONS)
    assert done.returncode == 1
    assert "bytes of the next region" in done.stdout
