"""Slices: so many members with consecutive ranks, each inside one domain of the slices' own level.

A slice of which a member runs stays where that is. The others are placed whole, as many as there is room for. Where whole slices
do not make up the members that must start together, and only then, incomplete ones make up what is lacking, the fewest that can:
the rest of a slice that has begun can only follow into its domain, where there may be no room for it.

For equal members that is arithmetic. With k slices of s members to place, a domain with room r takes s for each of the first
r // s of them, r % s for one more, and nothing for further ones: what the next slice brings never grows, so taking the most first
is best. One smaller slice, the last one as a rule, is tried in a domain of each remainder; further ones go where they fit
tightest, which is a heuristic.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.member_ranks import rank_of_uid, slots_by_rank
from scheduler.algorithm.partition import MemberPartition
from scheduler.algorithm.topology_domains import NAME
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.ranks import NO_RANK, Rank
from scheduler.cache.steps import ONE_BY_ONE
from scheduler.plugins.status import Code, Status

Whole = NDArray[np.int64]

ANY: Final = -1
_NO_RANK: Final = (
    "pod {} has no rank, and slices are made of ranks: it lacks the labels batch.kubernetes.io/job-completion-index and "
    "leaderworkerset.sigs.k8s.io/worker-index"
)


class Slice(NamedTuple):
    """The pending members of one slice.

    Attributes:
        uids: in the order of their ranks, by signature.
        domain: the domain where members of it run, `ANY` when none does.
    """

    uids: Mapping[PodSignature, Sequence[str]]
    domain: int = ANY

    @property
    def size(self) -> int:
        """How many members it has here."""
        return sum(map(len, self.uids.values()))


def slices_of(
    state: ClusterState, members: PodGroupState, found: MemberPartition, size: int, key: str, domains: Slots
) -> list[Slice] | Status:
    """The slices of the pending members, in the order of their ranks; why they cannot be told.

    Args:
        state: the cluster.
        members: the item.
        found: its pending members.
        size: members of a slice.
        key: the node label of their level.
        domains: the domain of each node, `ANY` for nodes that slices cannot use, `[node]`.
    """
    state.nodes.steps.spend(ONE_BY_ONE * members.pending_count)
    pins: dict[Rank, set[int]] = {}
    for rank, slot in slots_by_rank(state, members).items():
        if domains[slot] != ANY:
            pins.setdefault(_slice_of(rank, size), set()).add(int(domains[slot]))
    uids: dict[Rank, dict[PodSignature, list[tuple[int, str]]]] = {}
    for signature, waiting in found.uids.items():
        alike: defaultdict[Rank, list[tuple[int, str]]] = defaultdict(list)
        for uid in waiting:
            rank = rank_of_uid(state, uid)
            if rank.number == NO_RANK:
                pod = state.pod(uid)
                return Status(Code.ERROR, _NO_RANK, (pod.name if pod is not None else uid,), plugin=NAME)
            alike[_slice_of(rank, size)].append((rank.number, uid))
        for one, ranked in alike.items():
            uids.setdefault(one, {})[signature] = ranked
    torn = next((one for one in uids if len(pins.get(one, ())) > 1), None)
    if torn is not None:
        ranks = f"{torn.number * size} to {torn.number * size + size - 1}"
        return Status(Code.ERROR, f"members with the ranks {ranks} already run in more than one {key}", plugin=NAME)
    return [
        Slice(
            {signature: [uid for _, uid in sorted(ranked)] for signature, ranked in uids[one].items()},
            next(iter(pins.get(one, ())), ANY),
        )
        for one in sorted(uids)
    ]


def _slice_of(rank: Rank, size: int) -> Rank:
    return Rank(rank.series, rank.number // size)


class Share(NamedTuple):
    """So many members of a slice, the first by rank, go to a domain."""

    slice: int
    domain: int
    members: int


class Need(NamedTuple):
    """What is asked for, of slices by number.

    Attributes:
        sizes: members of each slice.
        pins: the domain in which each must be, `ANY` for any.
        wanted: members that must get a place together.
        full: members of a usual slice.
    """

    sizes: Sequence[int]
    pins: Sequence[int]
    wanted: int
    full: int


class Fill(NamedTuple):
    """How slices that may go anywhere fill the domains.

    Attributes:
        fulls: usual slices by domain.
        odd: domains of the smaller ones, by slice.
        left: room that is left by domain.
    """

    fulls: Whole
    odd: Mapping[int, int]
    left: Whole


def pinned_shares(need: Need, room: Whole) -> list[Share]:
    """The slices that have begun, in the domains where they are; as far as `room`, `[domain]`, goes, which is reduced."""
    shares = []
    for number, (size, domain) in enumerate(zip(need.sizes, need.pins, strict=True)):
        if domain != ANY and (given := min(size, max(int(room[domain]), 0))):
            room[domain] -= given
            shares.append(Share(number, domain, given))
    return shares


def fill(need: Need, room: Whole, placed: int) -> Fill:
    """How most members of slices that may go anywhere are placed in whole slices.

    Args:
        need: what is asked for.
        room: members that each domain has room for, `[domain]`.
        placed: members that have their place by then.
    """
    free = [number for number, pin in enumerate(need.pins) if pin == ANY]
    odd = sorted((number for number in free if need.sizes[number] != need.full), key=lambda one: -need.sizes[one])
    count = len(free) - len(odd)
    lacking = need.wanted - placed
    return max(_fills(need, room, odd, count), key=lambda one: _worth(need, one, lacking))


def fills_of_all(need: Need, room: Whole) -> Iterator[Fill]:
    """The ways to place all slices that may go anywhere, as far as they differ in where the largest of the smaller ones is."""
    free = [number for number, pin in enumerate(need.pins) if pin == ANY]
    odd = sorted((number for number in free if need.sizes[number] != need.full), key=lambda one: -need.sizes[one])
    for one in _fills(need, room, odd, len(free) - len(odd)):
        if len(one.odd) == len(odd) and int(one.fulls.sum()) == len(free) - len(odd):
            yield one


def _fills(need: Need, room: Whole, odd: Sequence[int], count: int) -> Iterator[Fill]:
    if not odd:
        yield _filled(need, room, (), {}, count)
        return
    yield _filled(need, room, odd[1:], {}, count)
    size = need.sizes[odd[0]]
    fitting = np.flatnonzero(room >= size)
    _, first = np.unique(room[fitting] % need.full, return_index=True)
    for domain in fitting[first].tolist():
        rest = room.copy()
        rest[domain] -= size
        yield _filled(need, rest, odd[1:], {odd[0]: domain}, count)


def _filled(need: Need, room: Whole, odd: Sequence[int], placed: Mapping[int, int], count: int) -> Fill:
    left, domains = room.copy(), dict(placed)
    for number in odd:
        size = need.sizes[number]
        fitting = np.flatnonzero(left >= size)
        if len(fitting):
            domain = _tightest(left, fitting, size, need.full)
            domains[number] = domain
            left[domain] -= size
    most = np.maximum(left, 0) // need.full
    fulls = np.diff(np.minimum(np.cumsum(most), count), prepend=0)
    return Fill(fulls, domains, left - fulls * need.full)


def _tightest(left: Whole, fitting: Slots, size: int, full: int) -> int:
    """The domain that loses no usual slice and keeps least, else the one that keeps most."""
    rest = left[fitting] % full - size
    return int(fitting[np.where(rest >= 0, rest, full - rest).argmin()])


def _worth(need: Need, one: Fill, lacking: int) -> tuple[bool, int]:
    whole = int(one.fulls.sum()) * need.full + sum(need.sizes[number] for number in one.odd)
    most = whole + sum(share.members for share in incomplete_shares(need, one, lacking - whole))
    return most >= lacking, whole


def incomplete_shares(need: Need, one: Fill, lacking: int) -> list[Share]:
    """Parts of slices that have no place, where most of each fits, until so many members have one; the fewest slices."""
    free = [number for number, pin in enumerate(need.pins) if pin == ANY and number not in one.odd]
    fulls = int(one.fulls.sum())
    usual = [number for number in free if need.sizes[number] == need.full]
    waiting = usual[fulls:] + [number for number in free if need.sizes[number] != need.full]
    left, shares = one.left.copy(), []
    for number in waiting:
        domain = int(left.argmax()) if len(left) else 0
        given = min(need.sizes[number], lacking, int(left[domain]) if len(left) else 0)
        if given <= 0:
            break
        left[domain] -= given
        lacking -= given
        shares.append(Share(number, domain, given))
    return shares


def whole_shares(need: Need, fulls: Whole, odd: Mapping[int, int], order: Slots) -> list[Share]:
    """The slices in the order of their ranks in the domains of `order`; `fulls` says how many each takes, `[domain]`."""
    usual = [
        number
        for number, (size, pin) in enumerate(zip(need.sizes, need.pins, strict=True))
        if pin == ANY and size == need.full
    ]
    domains = order.repeat(fulls[order]).tolist()
    shares = [Share(number, domain, need.full) for number, domain in zip(usual, domains, strict=False)]
    return shares + [Share(number, domain, need.sizes[number]) for number, domain in odd.items()]
