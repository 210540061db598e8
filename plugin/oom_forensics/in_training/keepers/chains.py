"""From tensors to what keeps them: the shortest chain of references from a root to each.

    tensors ──referrers──▶ … ──referrers──▶ roots      one pass over the heap a level
    tensors ◀── shortest way back, by links ── roots

A root is a variable of a module, a local variable of a running function, or a class. What
a gradient tape keeps is held by TensorFlow's C++, where Python sees nobody; see `_of_tapes`.
"""

from __future__ import annotations

import gc
from collections import Counter, deque
from collections.abc import Sequence
from types import FrameType, GeneratorType, ModuleType
from typing import Any, NamedTuple

from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers import safe_looks
from oom_forensics.in_training.keepers.heap import Heap
from oom_forensics.in_training.keepers.links import Link, is_transparent, link_to
from oom_forensics.in_training.keepers.live_tensors import LiveTensor
from oom_forensics.in_training.keepers.roots import Roots
from oom_forensics.in_training.source.frames import Stack, stack_of

# How far and how wide the search goes.
_MOST_LEVELS = 24
_MOST_OBJECTS = 60_000


class Chain(NamedTuple):
    """What keeps an object alive, from the root on; the last link is the object itself."""

    links: tuple[Link, ...]
    stack: Stack
    """Where the function runs, or was left, whose local variable is on the way; or empty."""


_HELD_OUTSIDE = Link("something outside of Python", "", "", None)
# The converter (held.h) knows this place by its words.
_NOT_HELD_YET = "that no variable holds yet"


class ChainFinder:
    """Finds the chains of some tensors. Holds them: keep it for the moment only."""

    def __init__(
        self, heap: Heap, tensors: Sequence[LiveTensor], roots: Roots, deadline: Deadline
    ) -> None:
        self._heap = heap
        self._roots = roots
        self._objects: dict[int, Any] = {}
        self._referrers: dict[int, list[int]] = {}
        self._next: dict[int, int | None] = {}
        self._tapes = [id(tape) for tape in heap.tapes]
        # Our own references are none of the user's.
        self._own = {id(tensors), id(self._objects), *map(id, tensors), *heap.own}
        self._looked_above: set[int] = set()
        self._of_user: set[int] = set()
        self._explore([*(each.holder for each in tensors), *heap.tapes], deadline)

    def chain_of(self, holder: object) -> Chain | None:
        """Returns the chain that keeps a tensor or variable; None if it was not found."""
        path = self._path(id(holder))
        if path is not None:
            return self._in_words(path)
        return self._of_tapes(holder) if self._has_no_root(id(holder)) else None

    def _explore(self, start: list[Any], deadline: Deadline) -> None:
        """Follows references upwards, as far as time and room allow and it is of use."""
        self._objects.update((id(each), each) for each in start)
        level = set(self._objects)
        targets = set(level)
        for _ in range(_MOST_LEVELS):
            self._walk_back()
            if not level or targets <= self._of_user:
                return
            above: set[int] = set()
            wanted = set(level)
            for referrer in self._heap.referrers_of(level):
                self._look_at(referrer, wanted, above)
                if deadline.passed or len(self._objects) > _MOST_OBJECTS:
                    self._walk_back()
                    return
            self._looked_above |= level
            level = above

    def _look_at(self, referrer: Any, wanted: set[int], above: set[int]) -> None:
        key = id(referrer)
        if key in self._own or (type(referrer) is FrameType and _is_ours(referrer)):
            return
        for held in gc.get_referents(referrer):
            if id(held) in wanted and id(held) != key:
                ways = self._referrers.setdefault(id(held), [])
                if key not in ways:
                    ways.append(key)
        if key not in self._objects:
            self._objects[key] = referrer
            if not self._is_end(referrer):
                above.add(key)
                wanted.add(key)

    def _is_end(self, instance: object) -> bool:
        return (
            id(instance) in self._roots.module_names
            or type(instance) is ModuleType
            or safe_looks.has_base(instance, type)
        )

    def _walk_back(self) -> None:
        """Finds, from the roots down, the next object towards a root of each."""
        holds: dict[int, list[int]] = {}
        for held, referrers in self._referrers.items():
            for referrer in referrers:
                holds.setdefault(referrer, []).append(held)
        self._next.clear()
        # What a variable of the user's leads to is told so, even if a library's function
        # that is running is nearer.
        for of_user in (True, False):
            queue: deque[int] = deque()
            for key, each in self._objects.items():
                if key not in self._next and self._is_root(each, of_user):
                    self._next[key] = None
                    queue.append(key)
            while queue:
                key = queue.popleft()
                for held in holds.get(key, ()):
                    if held not in self._next:
                        self._next[held] = key
                        queue.append(held)
            if of_user:
                self._of_user = set(self._next)

    def _is_root(self, instance: object, of_user: bool) -> bool:
        key = id(instance)
        local = self._roots.locals.get(key)
        if local is not None and local.is_user >= of_user:
            return True
        if key in self._roots.module_names:
            return not of_user or key in self._roots.user_modules
        return not of_user and self._is_end(instance)

    def _has_no_root(self, key: int) -> bool:
        """Whether all that leads to an object was looked at, and is nobody's."""
        seen = {key}
        above = [key]
        while above:
            at = above.pop()
            if at in self._next or at not in self._looked_above:
                return False
            for referrer in self._referrers.get(at, ()):
                if referrer not in seen:
                    seen.add(referrer)
                    above.append(referrer)
        return True

    def _path(self, key: int) -> list[Any] | None:
        """Returns the objects from a root to this one."""
        if key not in self._next:
            return None
        path = []
        at: int | None = key
        while at is not None:
            path.append(self._objects[at])
            at = self._next[at]
        return path[::-1]

    def _in_words(self, path: list[Any]) -> Chain:
        stack: Stack = ()
        links: list[Link] = []
        holder: Any = None
        module = self._roots.module_names.get(id(path[0]))
        if module is not None:
            holder = path.pop(0)
            if not path:
                return Chain((_HELD_OUTSIDE,), stack)
            name = safe_looks.name_of_value(holder, path[0]) or ""
            links.append(link_to(path[0], None)._replace(name=name, place=f"in {module}"))
        else:
            links.append(link_to(path[0], None))
            local = self._roots.locals.get(id(path[0]))
            if local is not None:
                stack = local.stack
                links[0] = links[0]._replace(name=local.name, place=local.place)
        holder = path.pop(0)
        between = holder
        for each in path:
            if is_transparent(each, between):
                between = each
                continue
            links.append(link_to(each, holder))
            holder = between = each
            frame = each if type(each) is FrameType else _suspended_frame(each)
            if frame is not None:
                stack = stack_of(frame, self._roots.origin)
        return Chain(tuple(links), stack)

    def _of_tapes(self, holder: Any) -> Chain | None:
        """Explains a tensor that nothing in Python leads to.

        A gradient tape keeps the inputs and outputs of what it recorded in tuples that only
        its C++ part knows. If there are tapes, it is one of them: most likely one of those
        that are kept in the same way as most tapes are.
        """
        tensor = link_to(holder, None)
        chains = [chain for chain in map(self._chain_of_tape, self._tapes) if chain is not None]
        if not chains:
            unnamed = self._unnamed_container(id(holder))
            if unnamed is None:
                return Chain((_HELD_OUTSIDE, tensor), ())
            return Chain((link_to(unnamed, None)._replace(place=_NOT_HELD_YET), tensor), ())
        likeliest = Counter(_shape(chain) for chain in chains).most_common(1)[0][0]
        chain = next(chain for chain in chains if _shape(chain) == likeliest)
        return Chain((*chain.links, tensor), chain.stack)

    def _unnamed_container(self, key: int) -> Any | None:
        """Returns the list that holds an object and that only a running expression knows.

        A comprehension builds one before any variable has it.
        """
        for referrer in self._referrers.get(key, ()):
            found = self._objects[referrer]
            if type(found) in (list, dict, set) and not self._referrers.get(referrer):
                return found
        return None

    def _chain_of_tape(self, key: int) -> Chain | None:
        path = self._path(key)
        return self._in_words(path) if path is not None else None


def _suspended_frame(instance: object) -> FrameType | None:
    return instance.gi_frame if type(instance) is GeneratorType else None


def _shape(chain: Chain) -> tuple[tuple[str, str, str], ...]:
    return tuple((link.kind, link.name, link.place) for link in chain.links)


def _is_ours(frame: FrameType) -> bool:
    return "/oom_forensics/in_training/" in frame.f_code.co_filename
