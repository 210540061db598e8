"""`oom_forensics.keras.MemoryCallback`: a number a step in TensorBoard's scalars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

SCRIPT = Path(__file__).parent / "scripts/callback.py"


def test_every_step_has_its_number_and_costs_no_allocation(run_python: Any, tmp_path: Path) -> None:
    done = run_python(SCRIPT, str(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
    assert "allocations of ten batches: 0" in done.stdout
    events = EventAccumulator(str(tmp_path), size_guidance={"tensors": 0}).Reload()
    (tag,) = (tag for tag in events.Tags()["tensors"] if tag.endswith("/in_use_bytes"))
    assert tag.startswith("memory/bfc_cpu_allocator_for_gpu#0/")
    # Eight batches of training, then those that the script ends by itself.
    assert [each.step for each in events.Tensors(tag)][:8] == list(range(1, 9))
