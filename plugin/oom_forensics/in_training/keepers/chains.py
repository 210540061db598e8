"""From tensors to what keeps them: the shortest chain of references from a root to each.

    tensors ──referrers──▶ … ──referrers──▶ roots      one pass over the heap a level
    tensors ◀── shortest way back, by links ── roots

A root is a variable of a module, a local variable of a running function, or a class. What
a gradient tape keeps is held by TensorFlow's C++, where Python sees nobody; see `_of_tapes`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from types import FrameType, GeneratorType
from typing import Any, NamedTuple

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.keepers import safe_looks
from oom_forensics.in_training.keepers.heap import Heap
from oom_forensics.in_training.keepers.links import Link, is_transparent, link_to
from oom_forensics.in_training.keepers.objects import FoundAgain
from oom_forensics.in_training.keepers.roots import Roots
from oom_forensics.in_training.source.frames import Stack, stack_of

# How far and how wide the search goes.
_MOST_LEVELS = 24
_MOST_OBJECTS = 60_000
# Of so many at a time the objects on their chains are held, while they are put into words.
_MOST_AT_ONCE = 2_000


class Chain(NamedTuple):
    """What keeps an object alive, from the root on; the last link is the object itself."""

    links: tuple[Link, ...]
    stack: Stack
    """Where the function runs, or was left, whose local variable is on the way; or empty."""


_HELD_OUTSIDE = Link("something outside of Python", "", "", None)
# The converter (held.h) knows this place by its words.
_NOT_HELD_YET = "that no variable holds yet"


class ChainFinder:
    """Finds the chains of some objects, by their ids: it holds none of them."""

    def __init__(
        self,
        library: CollectorLibrary,
        heap: Heap,
        keys: Sequence[int],
        roots: Roots,
        deadline: Deadline,
    ) -> None:
        self._library = library
        self._heap = heap
        self._roots = roots
        # In the order in which they were found.
        self._known: dict[int, None] = {}
        # Of an object: what refers to it, each once.
        self._referrers: dict[int, dict[int, None]] = {}
        self._next: dict[int, int | None] = {}
        self._looked_above: set[int] = set()
        self._of_user: set[int] = set()
        self._explore([*keys, *heap.tapes], deadline)

    def chains_of(self, keys: Sequence[int]) -> Iterator[tuple[int, Chain]]:
        """Yields the chains that keep objects, a tensor or a variable each, as far as found."""
        of_tapes = self._likeliest_of_tapes()
        for first in range(0, len(keys), _MOST_AT_ONCE):
            yield from self._in_words_at_once(keys[first : first + _MOST_AT_ONCE], of_tapes)

    def _in_words_at_once(
        self, keys: Sequence[int], of_tapes: Chain | None
    ) -> list[tuple[int, Chain]]:
        ways = {key: self._way(key) for key in keys}
        outside = {key for key, way in ways.items() if way == [key] and self._has_no_root(key)}
        unnamed = {key: self._unheld_referrers(key) for key in outside}
        found = self._found([*ways.values(), *unnamed.values()])
        chains: list[tuple[int, Chain]] = []
        for key, way in ways.items():
            if key in outside:
                if (held := found.get(key)) is not None:
                    containers = [found.path([each, key]) for each in unnamed[key]]
                    chains.append((key, _held_outside(held, of_tapes, containers)))
            elif key in self._next and (path := found.path(way)) is not None:
                chains.append((key, self._in_words(path)))
        return chains

    def _explore(self, start: list[int], deadline: Deadline) -> None:
        """Follows references upwards, as far as time and room allow and it is of use."""
        self._known = dict.fromkeys(start)
        level = set(self._known)
        targets = set(level)
        for _ in range(_MOST_LEVELS):
            self._walk_back()
            if not level or targets <= self._of_user:
                return
            above: set[int] = set()
            for holder, held in self._heap.references_to(level):
                if holder == held:
                    continue
                self._referrers.setdefault(held, {})[holder] = None
                if holder not in self._known:
                    self._known[holder] = None
                    if not self._is_end(holder):
                        above.add(holder)
                if deadline.passed or len(self._known) > _MOST_OBJECTS:
                    self._walk_back()
                    return
            self._looked_above |= level
            level = above

    def _is_end(self, key: int) -> bool:
        return key in self._roots.module_names or key in self._heap.ends

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
            for key in self._known_roots():
                if key not in self._next and self._is_root(key, of_user):
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

    def _known_roots(self) -> Iterator[int]:
        """Yields what may be a root; of two as near to an object, the first is told.

        Local variables come first, those of the outermost function before all others. By chance,
        or by ids, two runs of one program would be told in different words.
        """
        yield from (key for key in reversed(self._roots.locals) if key in self._known)
        yield from self._known

    def _is_root(self, key: int, of_user: bool) -> bool:
        local = self._roots.locals.get(key)
        if local is not None and local.is_user >= of_user:
            return True
        if key in self._roots.module_names:
            return not of_user or key in self._roots.user_modules
        return not of_user and key in self._heap.ends

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

    def _way(self, key: int) -> list[int]:
        """Returns the ids from a root to this one; itself alone if no way is known."""
        way = [key]
        while (holder := self._next.get(way[-1])) is not None:
            way.append(holder)
        return way[::-1]

    def _unheld_referrers(self, key: int) -> list[int]:
        return [each for each in self._referrers.get(key, ()) if not self._referrers.get(each)]

    def _found(self, ways: Sequence[Sequence[int]]) -> FoundAgain:
        # What a local variable has is finished.
        ids = {each for way in ways for each in way}
        return FoundAgain(self._library, ids, ids & self._roots.locals.keys())

    def _likeliest_of_tapes(self) -> Chain | None:
        """Returns how most gradient tapes are kept."""
        ways = [self._way(tape) for tape in self._heap.tapes if tape in self._next]
        if not ways:
            return None
        found = self._found(ways)
        chains = [self._in_words(path) for path in map(found.path, ways) if path is not None]
        if not chains:
            return None
        likeliest = Counter(map(_shape, chains)).most_common(1)[0][0]
        return next(chain for chain in chains if _shape(chain) == likeliest)

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


def _suspended_frame(instance: object) -> FrameType | None:
    return instance.gi_frame if type(instance) is GeneratorType else None


def _shape(chain: Chain) -> tuple[tuple[str, str, str], ...]:
    return tuple((link.kind, link.name, link.place) for link in chain.links)


def _held_outside(
    held: Any, of_tapes: Chain | None, containers: Sequence[list[Any] | None]
) -> Chain:
    """Explains a tensor that nothing in Python leads to; `containers` hold it, and nobody them.

    A gradient tape keeps the inputs and outputs of what it recorded in tuples that only its C++
    part knows. If there are tapes, it is one of them: most likely one of those that are kept in
    the same way as most tapes are. A comprehension builds a list before any variable has it.
    """
    tensor = link_to(held, None)
    if of_tapes is not None:
        return Chain((*of_tapes.links, tensor), of_tapes.stack)
    for path in containers:
        if path is not None and type(path[0]) in (list, dict, set):
            return Chain((link_to(path[0], None)._replace(place=_NOT_HELD_YET), tensor), ())
    return Chain((_HELD_OUTSIDE, tensor), ())
