"""The bytes of real jobs have a line of the user's, and it is the right one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from recordings.recording import LOGDIR, Recording

SCRIPT = Path(__file__).parent / "scripts/jobs.py"
JOBS = ("cnn_fit", "subclassed", "own_step", "lstm", "eager_loop", "data_map", "data_batches")


class Line(NamedTuple):
    """Where the bytes of an op come from: lines of the script, 0 where there is none."""

    called: int
    made: int
    keras_object: str


class Allocations(NamedTuple):
    """What was allocated in a run under one op, in one line."""

    op: str
    line: Line | None
    size_bytes: int


@pytest.fixture(scope="module")
def runs(record: Callable[..., Recording]) -> dict[str, Any]:
    logdir = record(SCRIPT, LOGDIR).logdir
    return {job: read(next((logdir / job).glob("plugins/profile/*/*.xplane.pb"))) for job in JOBS}


def read(trace: Path) -> list[Allocations]:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace.FromString(trace.read_bytes())
    stacks, ops, sizes = {}, {}, {}
    for plane in space.planes:
        if plane.name != "/oom_forensics:source":
            continue
        for key, record in plane.event_metadata.items():
            if record.name == "stack":
                stacks[key] = next(
                    (
                        int(text.split("\x1f")[1])
                        for name, text in texts(plane, record.stats)
                        if name == "frame" and text.startswith(f"{SCRIPT}\x1f")
                    ),
                    0,
                )
    for plane in space.planes:
        if plane.name == "/oom_forensics:source":
            for record in plane.event_metadata.values():
                if record.name == "op":
                    stats = values(plane, record.stats)
                    ops[record.display_name] = Line(
                        stacks.get(stats.get("stack"), 0),
                        stacks.get(stats.get("made_at_stack"), 0),
                        stats.get("object", ""),
                    )
                elif record.name == "size":
                    stats = values(plane, record.stats)
                    sizes[stats["bytes"]] = Line(stacks.get(stats["stack"], 0), 0, "")
    found = []
    for plane in space.planes:
        for line in plane.lines:
            if line.name != "events" or not plane.name.startswith("/oom_forensics:"):
                continue
            for event in line.events:
                site = plane.event_metadata[event.metadata_id]
                if site.name != "alloc":
                    continue
                stats = values(plane, [*site.stats, *event.stats])
                source = ops.get(site.display_name)
                if stats.get("stack"):
                    source = Line(stacks.get(stats["stack"], 0), 0, "")
                elif not site.display_name:
                    source = sizes.get(stats["requested_bytes"])
                found.append(Allocations(site.display_name, source, stats["requested_bytes"]))
    return found


def texts(plane: Any, stats: Any) -> list[tuple[str, str]]:
    return [
        (
            plane.stat_metadata[stat.metadata_id].name,
            stat.str_value or plane.stat_metadata[stat.ref_value].name,
        )
        for stat in stats
    ]


def values(plane: Any, stats: Any) -> dict[str, Any]:
    return {
        plane.stat_metadata[stat.metadata_id].name: getattr(stat, stat.WhichOneof("value"))
        for stat in stats
    }


def marked(name: str) -> int:
    for number, text in enumerate(SCRIPT.read_text().splitlines(), start=1):
        if text.endswith(f"# line: {name}"):
            return number
    raise AssertionError(f"no line is marked {name}")


@pytest.mark.parametrize("job", JOBS)
def test_almost_all_bytes_have_a_line(runs: dict[str, Any], job: str) -> None:
    # What py_function returns is of a shape that nobody knows before.
    allocations = [each for each in runs[job] if each.op or (each.line and any(each.line[:2]))]
    with_line = sum(each.size_bytes for each in allocations if each.line and any(each.line[:2]))
    total = sum(each.size_bytes for each in allocations)
    missing: dict[str, int] = {}
    for each in allocations:
        if not each.line or not any(each.line[:2]):
            missing[each.op] = missing.get(each.op, 0) + each.size_bytes
    assert with_line >= 0.99 * total, sorted(missing.items(), key=lambda item: -item[1])[:8]


@pytest.mark.parametrize(
    ("job", "op", "made", "called", "keras_object"),
    [
        # TensorFlow makes names of scopes unique: this is the layer conv2d.
        ("cnn_fit", r"functional_1/conv2d_1/Relu$", "first convolution", "fit", "Conv2D conv2d"),
        ("cnn_fit", r"/conv2d_1_2/Relu$", "second convolution", "fit", "Conv2D conv2d_1"),
        ("cnn_fit", r"gradient_tape/.*/conv2d_1_2/.*Input", "second convolution", "fit", "Conv2D"),
        ("cnn_fit", r"gradient_tape/.*/dense\w*/MatMul", "dense", "fit", "Dense"),
        ("cnn_fit", r"/adam/Sq", "optimizer", "fit", "Adam"),
        ("subclassed", r"gradient_tape/.*/dense\w*/MatMul", "inner dense", "own op", "Dense"),
        ("subclassed", r"block_1/(Exp|mul)$", "block", "own op", "Block"),
        ("own_step", r"while/MatMul(_grad/MatMul(_1)?)?$", None, "multiplication in a loop", ""),
        # Its name says nothing of what it is the gradient of.
        ("own_step", r"gradient_tape/(Mul|mul|Tile)\w*$", None, "gradient", ""),
        ("lstm", r"lstm_cell\w*/(MatMul|Tanh|split)", "recurrent", None, "LSTM"),
        ("eager_loop", r"RandomUniform$", None, "eager tensor", ""),
        ("data_map", r"adjust_contrast", None, "augmentation", ""),
        ("data_batches", r"^mul$", None, "map", ""),
    ],
)
def test_the_line_is_the_marked_one(
    runs: dict[str, Any],
    job: str,
    op: str,
    made: str | None,
    called: str | None,
    keras_object: str,
) -> None:
    lines = {each.line for each in runs[job] if re.search(op, each.op) and each.size_bytes > 64}
    assert lines, sorted({each.op for each in runs[job]})
    for line in lines:
        assert line is not None
        if made is not None:
            assert line.made == marked(made)
        if called is not None:
            assert line.called == marked(called)
        assert line.keras_object.startswith(keras_object)


def test_a_batch_of_tf_data_is_told_by_the_line_of_its_dataset(runs: dict[str, Any]) -> None:
    allocations = runs["data_batches"]
    batches = [each for each in allocations if each.size_bytes == 8 * 32 * 32 * 3 * 4]
    assert len(batches) >= 8
    assert {each.line and each.line.called for each in batches} == {marked("batch")}
    with_line = sum(each.size_bytes for each in allocations if each.line and any(each.line[:2]))
    assert with_line >= 0.99 * sum(each.size_bytes for each in allocations)
