"""The source lines of a written run: what is watched from the start, and the provider."""

from __future__ import annotations

import atexit

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import providers
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.evidence.trace_file import compiled_ops, recorded_lines
from oom_forensics.in_training.evidence.written_run import WrittenRun
from oom_forensics.in_training.import_watch import when_imported
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.data_pipelines import DataPipelines
from oom_forensics.in_training.source.frames import stack_of
from oom_forensics.in_training.source.keras2_objects import watch_keras2
from oom_forensics.in_training.source.keras_objects import KerasObjects
from oom_forensics.in_training.source.line_texts import sources_without_file
from oom_forensics.in_training.source.op_resolver import OpResolver
from oom_forensics.in_training.source.shown_paths import ShownPaths
from oom_forensics.in_training.source.source_plane import SourcePlane
from oom_forensics.in_training.source.traced_graphs import TracedGraphs

# A large Keras model has 3,000 names, 50 µs each.
_LIMIT_S = 2.0


def watch_source_lines(library: CollectorLibrary) -> None:
    """Watches graphs and Keras objects, and adds the lines of its ops to each run."""
    settings = EvidenceSettings.now(library)
    if not settings.source_lines:
        return
    graphs = TracedGraphs()
    origin = CodeOrigin.of(settings)
    pipelines, objects = DataPipelines(origin), KerasObjects(origin)
    when_imported("tensorflow.python.framework.func_graph", graphs.watch_graphs)
    when_imported("tensorflow.python.eager.context", graphs.watch_removals)
    when_imported("tensorflow.python.data.ops.dataset_ops", pipelines.watch)
    when_imported("keras.src.ops.operation", objects.watch_operations)
    when_imported("keras.src.backend.tensorflow.core", objects.watch_scopes)
    for module, name in (
        ("keras.src.optimizers.base_optimizer", "BaseOptimizer"),
        ("keras.src.losses.loss", "Loss"),
        ("keras.src.metrics.metric", "Metric"),
    ):
        when_imported(module, lambda module, name=name: objects.watch_class(getattr(module, name)))  # type: ignore[misc]
    watch_keras2(objects)
    atexit.register(graphs.close)

    def lines_of(run: WrittenRun) -> bytes | None:
        return _lines_of(run, EvidenceSettings.now(library), graphs, objects, pipelines)

    providers.register(lines_of, limit_s=_LIMIT_S)


def _lines_of(
    run: WrittenRun,
    settings: EvidenceSettings,
    graphs: TracedGraphs,
    objects: KerasObjects,
    pipelines: DataPipelines,
) -> bytes | None:
    if not settings.source_lines:
        return None
    origin = CodeOrigin.of(settings)
    plane = SourcePlane(ShownPaths(settings.source_paths))
    for size_bytes, stack in pipelines.sizes():
        plane.add_size(size_bytes, stack)
    running = stack_of(run.frame, origin) if run.origin == "oom" else ()
    resolver = OpResolver(graphs, objects, origin, running)
    for name, op in resolver.resolve_all([*run.ops, *compiled_ops(run.trace)]):
        plane.add_op(name, op.stack, op.keras_object)
        if run.deadline.passed:
            break
    _add_texts(run, plane, ShownPaths(settings.source_paths))
    return plane.serialized()


def _add_texts(run: WrittenRun, plane: SourcePlane, paths: ShownPaths) -> None:
    """Adds the text of lines that the collector knows and stand in no file it could read."""
    names = {paths.shown(name): name for name in sources_without_file()}
    if not names:
        return
    for file, line in recorded_lines(run.trace):
        if file in names:
            plane.add_text(names[file], line)
