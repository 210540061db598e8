"""From the name of a recorded operation to its lines.

A recorded name is the name of an operation in a graph that Python traced, changed by what
TensorFlow did since: functions that were called are inlined under the name of the call
(`StatefulPartitionedCall/…`), loops are lowered (`while/body/_12/…`), the optimizer of
graphs adds a word of its own (`ConstantFolding/…`, `…-LayoutOptimizer`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from oom_forensics.in_training.evidence.trace_file import RecordedOp
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.frames import Stack, has_user_frame, stack_of_summaries
from oom_forensics.in_training.source.keras_objects import KerasObject, KerasObjects
from oom_forensics.in_training.source.traced_graphs import RemovedFunction, TracedGraphs

# What may stand before the name that an operation has in its own graph.
_CALL = re.compile(
    r"(Stateful)?PartitionedCall(_\d+)?|while(_\d+)?|cond(_\d+)?|body|then|else|case(_\d+)?"
    r"|branch\d+|_\d+|\w+_block|ConstantFolding|ArithmeticOptimizer|LoopOptimizer|replica_\d+"
)
_ADDED = re.compile(
    r"(-\d+)?(-[A-Za-z]+)*-LayoutOptimizer|-folded(-\d+)?|(-\d+)?-reduction-indices|__cf__\d+"
)
_GRADIENT = re.compile(r"(?:^|/)gradient(?:_tape|s)/")


class ResolvedOp(NamedTuple):
    """Where an operation comes from; `stack` is empty where that is not known."""

    stack: Stack
    keras_object: KerasObject | None


class OpResolver:
    """Looks names up. Holds graphs alive as long as it lives: keep it for one run only."""

    def __init__(
        self,
        graphs: TracedGraphs,
        objects: KerasObjects,
        origin: CodeOrigin,
        running: Stack = (),
    ) -> None:
        """Reads what was traced.

        Args:
          graphs: The graphs of this process.
          objects: The layers and the like that it made.
          origin: Which files are the user's.
          running: Of an out-of-memory, the stack of the call that met it.
        """
        self._running = {frame[:3] for frame in running if frame.is_user}
        self._objects = objects
        self._origin = origin
        # By name: operations of graphs that are alive, and of what is left of others.
        self._places: dict[str, list[Any]] = {}
        for graph in graphs.alive():
            for operation in graph.get_operations():
                self._places.setdefault(operation.name, []).append(operation)
        # By the id of an operation: many gradients go by one of the forward pass.
        self._stacks: dict[int, Stack] = {}
        self._removed = graphs.removed()
        self._removed_is_read = False

    def resolve_all(self, recorded: Iterable[RecordedOp]) -> Iterator[tuple[str, ResolvedOp]]:
        """Yields the name of each op of a graph that is known, with where it comes from."""
        shapes: dict[str, set[tuple[int, str]]] = {}
        for op in recorded:
            if not op.eager:
                shapes.setdefault(op.name, set()).add((op.dtype, op.shape))
        found = {name: self._find(name) for name in shapes}
        # A name may stand in several graphs: of training and of evaluation, of several
        # `map`s. At an out-of-memory it is that of the graph which the running call traced;
        # else of the one whose other names were recorded with the same prefix (by its calls),
        # and which has most of them.
        weights: Counter[tuple[int, str]] = Counter()
        for name, (own_name, places) in found.items():
            if len(places) == 1:
                graph = id(places[0].graph)
                weights.update([(graph, name.removesuffix(own_name)), (graph, "any")])
        for name, (own_name, places) in found.items():
            prefix = name.removesuffix(own_name)
            best = max(
                _of_these_shapes(places, shapes[name]),
                key=lambda place: (
                    self._is_running(place),
                    weights[id(place.graph), prefix],
                    weights[id(place.graph), "any"],
                ),
                default=None,
            )
            resolved = self._resolve(own_name, best)
            if resolved.stack or resolved.keras_object is not None:
                yield name, resolved

    def _is_running(self, place: Any) -> bool:
        return any(frame[:3] in self._running for frame in self._stack(place))

    def _find(self, name: str) -> tuple[str, list[Any]]:
        """Returns the name in its own graph, and the places where it stands."""
        for candidate in _own_names(name):
            places = self._places.get(candidate)
            if places is None:
                self._read_removed()
                places = self._places.get(candidate)
            if places:
                return candidate, places
        return _without_calls(name), []

    def _resolve(self, name: str, place: Any | None) -> ResolvedOp:
        graph = place.graph if place is not None else None
        if isinstance(graph, RemovedFunction):
            graph = None
        scoped = _GRADIENT.sub("/", name).lstrip("/") if _GRADIENT.search(name) else name
        keras_object = self._objects.of_operation(scoped, graph)
        stack: Stack = ()
        if place is not None:
            forward = self._forward_of(name, place)
            stack = self._stack(forward) if forward is not None else ()
            if not has_user_frame(stack):
                stack = self._stack(place)
        return ResolvedOp(stack, keras_object)

    def _forward_of(self, name: str, place: Any) -> Any | None:
        """Returns the operation whose gradient this one computes a part of."""
        # In a loop there are several: the last one tells most.
        for match in reversed(list(_GRADIENT.finditer(name))):
            path = name[match.end() :]
            while "/" in path:
                path = path.rpartition("/")[0]
                for candidate in (path, path.removesuffix("_grad")):
                    places = self._places.get(candidate, [])
                    same = (other for other in places if other.graph is place.graph)
                    # The backward pass of a function is a graph of its own.
                    found = next(same, places[0] if places else None)
                    if found is not None:
                        return found
        return None

    def _stack(self, place: Any) -> Stack:
        known = self._stacks.get(id(place))
        if known is None:
            known = self._stacks[id(place)] = self._read_stack(place)
        return known

    def _read_stack(self, place: Any) -> Stack:
        if isinstance(place, _RemovedOperation):
            return stack_of_summaries(place.frames(), self._origin)
        # The trace is of use as long as the operation lives, which `_places` sees to.
        trace = place.traceback
        frames = trace.get_user_frames() if trace is not None else ()
        return stack_of_summaries(reversed(frames), self._origin)

    def _read_removed(self) -> None:
        if self._removed_is_read:
            return
        self._removed_is_read = True
        for function in self._removed:
            for name, operation in _operations_of(function):
                self._places.setdefault(name, []).append(operation)


class _Summary(NamedTuple):
    filename: str
    lineno: int
    name: str


class _RemovedOperation(NamedTuple):
    """An operation of a function that was removed: its frames in a GraphDebugInfo."""

    graph: RemovedFunction
    debug_info: Any
    trace_id: int

    def frames(self) -> Iterator[_Summary]:
        """Yields its frames, innermost first."""
        info = self.debug_info
        for frame_id in reversed(info.traces_by_id[self.trace_id].frame_id):
            frame = info.frames_by_id[frame_id]
            yield _Summary(info.files[frame.file_index], frame.line, frame.func)


def _operations_of(function: RemovedFunction) -> Iterator[tuple[str, _RemovedOperation]]:
    from tensorflow.core.framework import graph_debug_info_pb2

    info = graph_debug_info_pb2.GraphDebugInfo.FromString(function.debug_info)
    for key, trace_id in info.name_to_trace_id.items():
        # "<operation>@<function>".
        yield key.partition("@")[0], _RemovedOperation(function, info, trace_id)


def _of_these_shapes(places: list[Any], shapes: set[tuple[int, str]]) -> list[Any]:
    """Returns the places whose operation can make such a tensor; all if none can."""
    if len(places) < 2:
        return places

    def fits(output: Any, dtype: int, shape: str) -> bool:
        if dtype and output.dtype.as_datatype_enum != dtype:
            return False
        sizes = [int(size) for size in shape.strip("[]").split(",") if size.isdigit()]
        return not shape or bool(output.shape.is_compatible_with(sizes))

    return [
        place
        for place in places
        if not isinstance(place, _RemovedOperation)
        and any(fits(output, *shape) for output in place.outputs for shape in shapes)
    ] or places


def _own_names(name: str) -> Iterator[str]:
    """Yields the names that an operation may have in its own graph, the likeliest first."""
    for spelling in dict.fromkeys((name, _ADDED.sub("", name))):
        rest = spelling
        dropped_only_calls = True
        while True:
            # One word alone, `Relu`, is too little where what stood before it is no call.
            if dropped_only_calls or "/" in rest:
                yield rest
            first, slash, shorter = rest.partition("/")
            if not slash:
                break
            dropped_only_calls = dropped_only_calls and _CALL.fullmatch(first) is not None
            rest = shorter


def _without_calls(name: str) -> str:
    parts = name.split("/")
    while len(parts) > 1 and _CALL.fullmatch(parts[0]):
        del parts[0]
    return "/".join(parts)
