"""Who keeps the memory of a written run: the provider."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from oom_forensics.in_training.collector_library import CollectorLibrary
from oom_forensics.in_training.evidence import providers
from oom_forensics.in_training.evidence.settings import EvidenceSettings
from oom_forensics.in_training.evidence.written_run import WrittenRun
from oom_forensics.in_training.keepers.chains import Chain, ChainFinder
from oom_forensics.in_training.keepers.heap import Heap
from oom_forensics.in_training.keepers.links import Link
from oom_forensics.in_training.keepers.live_tensors import LiveTensor, live_tensors
from oom_forensics.in_training.keepers.roots import Roots
from oom_forensics.in_training.source.code_origin import CodeOrigin
from oom_forensics.in_training.source.shown_paths import ShownPaths
from oom_forensics.in_training.source.source_plane import FIRST_PYTHON_STACK, SourcePlane

_LIMIT_S = 4.0
# Ids of the records of ops are below it.
_FIRST_ID = FIRST_PYTHON_STACK + (1 << 24)
# The largest groups that are told of.
_MOST_KEEPERS = 50


class Keeper(NamedTuple):
    """One way in which live tensors are kept, with all that are kept so."""

    links: tuple[Link, ...]
    chain: Chain
    addresses: list[int]
    size_bytes: int


def watch_keepers(library: CollectorLibrary) -> None:
    """Adds who keeps the live tensors to each run of an out-of-memory or a snapshot."""

    def keepers_of(run: WrittenRun) -> bytes | None:
        return _planes_of(run, EvidenceSettings.now(library), library)

    # What lives when a profile ends says nothing of its peak.
    providers.register(keepers_of, limit_s=_LIMIT_S, origins=("oom", "snapshot"))


def _planes_of(
    run: WrittenRun, settings: EvidenceSettings, library: CollectorLibrary
) -> bytes | None:
    if not settings.keepers:
        return None
    origin = CodeOrigin.of(settings)
    paths = ShownPaths(settings.source_paths)
    plane = SourcePlane(paths, _FIRST_ID)
    tensors = {each.holder: each for each in live_tensors(library, run.deadline)}
    if not tensors:
        return None
    heap = Heap(library, run.deadline)
    roots = Roots(run.frame, origin)
    finder = ChainFinder(library, heap, list(tensors), roots, run.deadline)
    chains = finder.chains_of(list(tensors))
    for keeper in _groups(_best((tensors[key], chain) for key, chain in chains)):
        plane.add_keeper(
            [address - run.address_shift for address in keeper.addresses],
            keeper.size_bytes,
            [paths.without_file(link.text) for link in keeper.links],
            keeper.chain.stack,
        )
    return plane.serialized()


def _best(found: Iterable[tuple[LiveTensor, Chain]]) -> Iterable[tuple[LiveTensor, Chain]]:
    """Chooses one of those that share an address; by words, not by chance."""

    def order(tensor: LiveTensor, chain: Chain) -> tuple[bool, bool, int, list[str]]:
        # What keeps a variable keeps its value: the variable is the better holder. A name alone
        # gets another value in the next round; a list or a tape keeps what it has.
        is_name_alone = len(chain.links) == 1
        words = [link.text for link in chain.links]
        return not tensor.is_variable, is_name_alone, len(chain.links), words

    best: dict[int, tuple[LiveTensor, Chain]] = {}
    for each in found:
        known = best.setdefault(each[0].address, each)
        if known is not each and order(*each) < order(*known):
            best[each[0].address] = each
    return best.values()


def _groups(found: Iterable[tuple[LiveTensor, Chain]]) -> list[Keeper]:
    """Joins what is kept in the same way; the largest first."""
    groups: dict[tuple[object, ...], Keeper] = {}
    for tensor, chain in found:
        key = (chain.stack, *((link.kind, link.name, link.place) for link in chain.links))
        known = groups.get(key)
        if known is None:
            groups[key] = Keeper(chain.links, chain, [tensor.address], tensor.size_bytes)
            continue
        # Lists of different lengths on the way: the length is said where it is one.
        links = tuple(
            mine if mine[3:] == other[3:] else mine._replace(size=None, most=None)
            for mine, other in zip(known.links, chain.links, strict=True)
        )
        known.addresses.append(tensor.address)
        groups[key] = Keeper(links, chain, known.addresses, known.size_bytes + tensor.size_bytes)

    # Two slots of an optimizer are of one size: which is named first must not be by chance.
    def order(keeper: Keeper) -> tuple[int, list[str]]:
        return -keeper.size_bytes, [link.text for link in keeper.links]

    return sorted(groups.values(), key=order)[:_MOST_KEEPERS]
