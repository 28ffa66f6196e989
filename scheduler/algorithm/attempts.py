"""Attempts to place the members of an item: one way after the other, until one places enough or no way is left.

Members of one signature that do not affect each other are placed exactly. Several signatures are a bin packing problem, and no
order is right for all of them; nor is any order right for all rules about other pods. So when an attempt leaves members over, the
next way is tried. What no way can reach is known from an upper bound. Where every way was too little, a decision searches all
placements (`exact`) as far as its budget goes, and its refusal says whether one may exist that was not found.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.attempt import Attempt, AttemptBudget
from scheduler.algorithm.exact.fallback import SearchFallback
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.heterogeneous import HeterogeneousMembers, are_heterogeneous
from scheduler.algorithm.heterogeneous_in_order import place_in_order
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.pod_by_pod import Confined, PodByPod
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.upper_bound import by_base, by_value, most_pods, most_pods_by_node
from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_signature import PodsBySignature, PodSignature

MOST_DOMAINS: Final = 16
"""Values of a label in which pods that must be together are tried, roomiest first."""
_MARGIN: Final = 2
"""A further way is tried while there are so many times the steps that the longest has taken: what was found is worth more."""

PODS_DIFFER: Final = "the pods differ in what they need."
PODS_LIMIT_EACH_OTHER: Final = "where one of the pods goes limits the others."

Way = Callable[[SnapshotOverlay], list[Placed]]
"""Puts members on the nodes of a snapshot without tentative pods."""


def affect_each_other(snapshot: SnapshotOverlay, pending: PodsBySignature) -> bool:
    """Whether the node of one member matters to another one."""
    return (
        snapshot.topology_state is not None
        and not snapshot.topology_state.topology.are_fixed
        and sum(pending.values()) > 1
    )


def best_attempt(
    pending: PodsBySignature,
    wanted: int,
    nodes: NodeTable,
    new_snapshot: Callable[[], SnapshotOverlay],
    budget: AttemptBudget | None = None,
    search: SearchBudget | None = None,
) -> Attempt:
    """Places as many members as it can find room for, stopping early once all have a node or too few ever will.

    Args:
        pending: members to place, by signature; at least one.
        wanted: members that must get a node together; fewer are as good as none.
        nodes: the node table that the snapshots are of.
        new_snapshot: a snapshot without tentative pods; called once for each way that is tried, and once more.
        budget: limits the ways that place pod by pod; None for one of its own.
        search: what may be spent on searching all placements when no way was enough; None for no search.

    Returns:
        The attempt that placed the most.

    Raises:
        OverBudgetError: more steps are needed than the computation under way may take.
    """
    empty = new_snapshot()
    if affect_each_other(empty, pending):
        ways, budget = _pod_by_pod(pending, empty), budget or AttemptBudget(pending)
    elif len(pending) == 1 or (empty.topology_state is None and len(by_base(pending)) == 1):
        return Attempt(empty, [empty.place(signature, count) for signature, count in pending.items()])
    else:
        make = _heterogeneous if are_heterogeneous(empty, pending) else _by_signature
        ways, budget = make(pending, nodes, empty), None
    best: Attempt | None = None
    steps, cost = nodes.steps, 0
    fallback = SearchFallback(empty, pending, wanted, ways.limit, ways.incomplete_reason, budget, new_snapshot, search)
    for place in ways.ways:
        if best is not None:
            if budget is not None and (budget.pods <= 0 or steps.left < _MARGIN * cost + fallback.kept):
                break
            best, is_settled = fallback.take(best)
            if is_settled:
                return best
        begun = steps.spent
        snapshot = new_snapshot()
        attempt = Attempt(snapshot, place(snapshot))
        cost = max(cost, steps.spent - begun)
        fallback.count(pending)
        if best is None or attempt.total > best.total:
            best = attempt
        if best.total == ways.limit or ways.limit < wanted:
            break
    if best is None:
        raise ValueError("nothing to place")
    if best.total >= wanted or ways.limit < wanted:
        best.incomplete_reason = "" if ways.limit < wanted else ways.incomplete_reason
        return best
    return fallback.last(best)


class _Ways(NamedTuple):
    """What there is to try, and how many pods none of it can exceed."""

    ways: Iterator[Way]
    limit: int
    incomplete_reason: str = PODS_DIFFER


# --- several signatures that do not affect each other ----------------------------------------------------------------


class _Difficulty(NamedTuple):
    """How hard a signature is to place: pods there is room for, nodes that have some, its largest share of any resource."""

    room: int
    hosts: int
    share: float


def _by_signature(pending: PodsBySignature, nodes: NodeTable, empty: SnapshotOverlay) -> _Ways:
    """Signature after signature, each in closed form."""
    difficulties: dict[PodSignature, _Difficulty] = {}
    for signature, share in zip(pending, _largest_shares(list(pending), nodes), strict=True):
        capacity = empty.capacity(signature)
        difficulties[signature] = _Difficulty(int(capacity.sum()), int(np.count_nonzero(capacity)), share)

    def place(order: list[PodSignature], pack: bool, snapshot: SnapshotOverlay) -> list[Placed]:
        return [snapshot.place(signature, pending[signature], pack=pack) for signature in order]

    return _Ways(_in_orders(difficulties, place), _limit(pending, difficulties))


def _heterogeneous(pending: PodsBySignature, nodes: NodeTable, empty: SnapshotOverlay) -> _Ways:
    """Pod after pod, many at a time."""
    signatures = list(pending)
    among = HeterogeneousMembers(empty, signatures)
    difficulties = dict(
        zip(signatures, map(_Difficulty, *among.room(), _largest_shares(signatures, nodes)), strict=True)
    )
    index_of = {signature: index for index, signature in enumerate(signatures)}

    def place(order: list[PodSignature], pack: bool, snapshot: SnapshotOverlay) -> list[Placed]:
        pods = [signature for signature in order for _ in range(pending[signature])]
        found = place_in_order(among, [index_of[signature] for signature in pods], pack=pack)
        slots_of: dict[PodSignature, list[int]] = {}
        for signature, slot in zip(pods, found, strict=True):
            if slot >= 0:
                slots_of.setdefault(signature, []).append(slot)
        placed = [_placed(signature, slots) for signature, slots in slots_of.items()]
        snapshot.assume_all(placed)
        return placed

    return _Ways(_in_orders(difficulties, place), _limit(pending, difficulties))


_ONE: Final = np.ones(1, dtype=np.int64)


def _placed(signature: PodSignature, slots: list[int]) -> Placed:
    if len(slots) == 1:
        return Placed(signature, np.array(slots, dtype=np.intp), _ONE, 1)
    distinct, counts = np.unique(np.array(slots, dtype=np.intp), return_counts=True)
    return Placed(signature, distinct, counts.astype(np.int64), len(slots))


def _limit(pending: PodsBySignature, difficulties: Mapping[PodSignature, _Difficulty]) -> int:
    return sum(min(count, difficulties[signature].room) for signature, count in pending.items())


def _in_orders(
    difficulties: Mapping[PodSignature, _Difficulty],
    place: Callable[[list[PodSignature], bool, SnapshotOverlay], list[Placed]],
) -> Iterator[Way]:
    """Hardest first by several measures of hardness, then the same orders packed."""
    keys: tuple[Callable[[PodSignature], tuple[float, float]], ...] = (
        lambda signature: (difficulties[signature].room, -difficulties[signature].share),
        lambda signature: (-difficulties[signature].share, difficulties[signature].room),
        lambda signature: (difficulties[signature].hosts, -difficulties[signature].share),
        lambda signature: (-difficulties[signature].room, difficulties[signature].share),
    )
    orders: list[list[PodSignature]] = []
    for key in keys:
        order = sorted(difficulties, key=key)
        if order not in orders:
            orders.append(order)
            yield partial(place, order, False)
    for order in orders:
        yield partial(place, order, True)


def _largest_shares(signatures: Sequence[PodSignature], nodes: NodeTable) -> list[float]:
    """Of each signature: the largest share of all there is that one pod asks for, over the resources."""
    totals = nodes.allocatable.sum(axis=1).clip(min=1)
    columns = np.array([nodes.resolve(signature.demand).column for signature in signatures])
    shares: list[float] = (columns / totals).max(axis=1).tolist()
    return shares


# --- members that affect each other ----------------------------------------------------------------------------------


def _pod_by_pod(pending: PodsBySignature, empty: SnapshotOverlay) -> _Ways:
    limits = {signature: most_pods(empty, signature, count) for signature, count in pending.items()}
    return _Ways(_confined_ways(pending, limits, empty), sum(limits.values()), PODS_LIMIT_EACH_OTHER)


def _confined_ways(
    pending: PodsBySignature, limits: Mapping[PodSignature, int], empty: SnapshotOverlay
) -> Iterator[Way]:
    """Hardest first; the same with those that must be together inside one value of their label; other orders; packed."""
    hardest_first = sorted(pending, key=lambda signature: (limits[signature], int(empty.room(signature).sum())))
    orders = [hardest_first]
    for order in (list(pending), hardest_first[::-1]):
        if order not in orders:
            orders.append(order)
    runs = [[(signature, pending[signature]) for signature in order] for order in orders]

    def place(
        run: list[tuple[PodSignature, int]], pack: bool, confined: Confined, snapshot: SnapshotOverlay
    ) -> list[Placed]:
        return PodByPod(snapshot, pack=pack, confined=confined).place(run)

    yield partial(place, runs[0], False, {})
    for confined in _where_to_gather(pending, empty):
        yield partial(place, runs[0], False, confined)
    for run in runs[1:]:
        yield partial(place, run, False, {})
    for run in runs:
        yield partial(place, run, True, {})


def _where_devices_are(pending: PodsBySignature, empty: SnapshotOverlay) -> Iterator[Confined]:
    """For pods that share a claim without devices: one node for all of them, those with most room first."""
    device_claims = empty.topology_state.topology.device_claims if empty.topology_state is not None else None
    sharing = [one for one in pending if device_claims is not None and device_claims.gathers(one)]
    if not sharing:
        return
    room = np.sum(
        [np.minimum(most_pods_by_node(empty, signature), pending[signature]) for signature in sharing], axis=0
    )
    for slot in np.argsort(-room, kind="stable")[:MOST_DOMAINS].tolist():
        if room[slot] > 0:
            only = np.zeros(len(room), dtype=np.bool_)
            only[slot] = True
            yield dict.fromkeys(sharing, only)


def _where_to_gather(pending: PodsBySignature, empty: SnapshotOverlay) -> Iterator[Confined]:
    """For signatures whose first pod decides where all others have to be: values of the label, those with most room first."""
    if empty.topology_state is None:
        return
    topology = empty.topology_state.topology
    yield from _where_devices_are(pending, empty)
    gathering = [signature for signature in pending if topology.is_self_gathering(signature)]
    for at in dict.fromkeys(topology.prefilter_states[signature].affinity[0] for signature in gathering):
        place = topology.groups[at]
        all_required = [signature for signature in gathering if at in topology.prefilter_states[signature].affinity]
        room = sum(
            (by_value(place, most_pods_by_node(empty, signature)) for signature in all_required),
            np.zeros(1, dtype=np.int64),
        )
        for value in np.argsort(-room, kind="stable")[:MOST_DOMAINS].tolist():
            if room[value] > 0:
                inside: NDArray[np.bool_] = place.codes == value
                yield dict.fromkeys(all_required, inside)
