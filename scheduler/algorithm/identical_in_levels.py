"""Equal members in a domain of their required level: few domains of the preferred ones, and whole slices; exact.

Which domains are used is found first (`fewest_domains`), from how many members each has room for; then the scores choose nodes in
them, as everywhere. Members that replace others go to the domains of their neighbours first: a run of ranks begins where the one
before it runs, and ends where the one after it does. The domains of all that runs cost nothing, so no domain is added by that;
that as few neighbours as possible are apart is then not certain.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.attempt import Attempt, Part
from scheduler.algorithm.fewest_domains import Leaves, added_by, fewest_domains
from scheduler.algorithm.identical import PodsByNode
from scheduler.algorithm.level_request import NOWHERE, LevelRequest
from scheduler.algorithm.member_ranks import rank_of_uid, slots_by_rank
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.slices import (
    ANY,
    Fill,
    Need,
    Share,
    Slice,
    fill,
    fills_of_all,
    incomplete_shares,
    pinned_shares,
    whole_shares,
)
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.ranks import NO_RANK, Rank
from scheduler.plugins.status import Status

Mask = NDArray[np.bool_]


class Plan(NamedTuple):
    """Where equal members go inside one domain of the required level.

    Attributes:
        total: how many get a place.
        added: by preferred level: domains that no running member uses.
        inside: the nodes that are used, `[node]`.
        parts: UIDs by set of nodes; None for any of them anywhere inside.
    """

    total: int
    added: tuple[int, ...]
    inside: Mask
    parts: Sequence[tuple[Slots, Sequence[str]]] | None = None


class IdenticalInLevels:
    """The plans for the members of one request, which are equal.

    Args:
        request: what they ask for; `slices` are known.
        members: the item.
        wanted: members that must get a place together.

    Every method may raise OverBudgetError: more steps are needed than the computation under way may take.
    """

    def __init__(self, request: LevelRequest, members: PodGroupState, wanted: int) -> None:
        [(self._signature, self._count)] = request.pending.items()
        self._request: Final = request
        self._members: Final = members
        self._wanted: Final = wanted
        self._slices: Final[Sequence[Slice]] = request.slices if not isinstance(request.slices, Status) else ()

    @property
    def room(self) -> PodsByNode:
        """How many of them each node takes, `[node]`."""
        return self._request.room[self._signature]

    def plan(self, inside: Mask) -> Plan:
        """The best plan on these nodes."""
        if self._request.slice_level != NOWHERE:
            return self._in_slices(self._request.in_slices(inside))
        total = min(self._count, int(self.room[inside].sum()))
        if self._request.last_preferred == NOWHERE or total < self._count:
            return Plan(total, (), inside)
        if len(self._request.used):
            return self._beside_neighbours(inside)
        chosen, choice = self._request.fewest(inside, self.room, total)
        return Plan(total, choice.added, chosen)

    def attempt(self, plan: Plan, snapshot: SnapshotOverlay) -> Attempt:
        """The members on the nodes that the scores choose; the snapshot is of the plan's nodes."""
        signature = self._signature
        if plan.parts is None:
            return Attempt(snapshot, [snapshot.place(signature, self._count)])
        placed = snapshot.place_among(signature, [(slots, len(uids)) for slots, uids in plan.parts])
        slots = np.concatenate([one.slots for one in placed] or [np.zeros(0, dtype=np.intp)])
        counts = np.concatenate([one.counts for one in placed] or [np.zeros(0, dtype=np.int64)])
        attempt = Attempt(snapshot, [Placed(signature, slots, counts)])
        attempt.parts = [Part({signature: uids}, [one]) for one, (_, uids) in zip(placed, plan.parts, strict=True)]
        return attempt

    # --- replacements ------------------------------------------------------------------------------------------------

    def _beside_neighbours(self, inside: Mask) -> Plan:
        request, last = self._request, self._request.last_preferred
        leaves, codes = request.leafage(inside, self.room, last)
        left = dict(zip(codes.tolist(), leaves.room.tolist(), strict=True))
        uids: Sequence[str] = request.found.uids[self._signature]
        near = self._near_neighbours(uids, request.tree.codes[last], left)
        rest = [uid for uid in uids if uid not in near]
        room = np.array([left[code] for code in codes.tolist()], dtype=np.int64)
        choice = fewest_domains(leaves._replace(room=room), len(rest), request.state.nodes.steps)
        chosen = codes[choice.chosen]
        places = chosen.repeat(room[choice.chosen])[: len(rest)].tolist() if rest else []
        domain_of = near | dict(zip(rest, places, strict=True))
        by_domain: dict[int, list[str]] = {}
        for uid in uids:
            by_domain.setdefault(domain_of[uid], []).append(uid)
        parts = [(self._slots(inside, last, code), by_domain[code]) for code in sorted(by_domain)]
        return Plan(len(uids), choice.added, inside & np.isin(request.tree.codes[last], list(by_domain)), parts)

    def _near_neighbours(self, uids: Sequence[str], codes: Slots, left: dict[int, int]) -> dict[str, int]:
        """By UID: the domain of a neighbour that runs, or of one that goes there; takes from the room that is left."""
        state = self._request.state
        domain_of = {rank: int(codes[slot]) for rank, slot in slots_by_rank(state, self._members).items()}
        ranks = [(rank_of_uid(state, uid), uid) for uid in uids]
        found: dict[str, int] = {}
        for step, ordered in ((1, ranks), (-1, ranks[::-1])):
            for rank, uid in ordered:
                near = domain_of.get(Rank(rank.series, rank.number - step), NOWHERE)
                if uid not in found and rank.number != NO_RANK and left.get(near, 0) > 0:
                    left[near] -= 1
                    found[uid] = domain_of[rank] = near
        return found

    def _slots(self, inside: Mask, level: int, code: int) -> Slots:
        return np.flatnonzero(inside & (self._request.tree.codes[level] == code))

    # --- slices ------------------------------------------------------------------------------------------------------

    def _in_slices(self, inside: Mask) -> Plan:
        request, level = self._request, self._request.slice_level
        leaves, codes = request.leafage(inside, self.room, level)
        # One more for slices that are pinned to a domain without room.
        room = np.append(leaves.room, 0)
        index_of = {code: index for index, code in enumerate(codes.tolist())}
        pins = [ANY if one.domain == ANY else index_of.get(one.domain, len(codes)) for one in self._slices]
        need = Need([one.size for one in self._slices], pins, self._wanted, request.slice_size)
        shares = pinned_shares(need, room)
        begun = sum(share.members for share in shares)
        # Where a slice has begun a member runs, so those domains are in use as it is.
        leaves = leaves._replace(room=room[:-1])
        found, added = self._fewest_of(need, leaves)
        if found is None:
            some = fill(need, room[:-1], begun)
            shares += whole_shares(need, some.fulls, some.odd, np.arange(len(codes)))
            lacking = self._wanted - sum(share.members for share in shares)
            shares += incomplete_shares(need, some, lacking)
        else:
            shares += whole_shares(need, found.fulls, found.odd, np.arange(len(codes)))
        return self._shared(inside, codes, shares, added)

    def _fewest_of(self, need: Need, leaves: Leaves) -> tuple[Fill | None, tuple[int, ...]]:
        """How all slices go into the fewest domains; None when there is not room for all."""
        best: tuple[tuple[int, ...], Fill] | None = None
        for one in fills_of_all(need, leaves.room):
            odd = np.zeros(len(leaves.room), dtype=np.bool_)
            odd[list(one.odd.values())] = True
            # What the smaller slices take is gone, and their domains are in use.
            taken = np.zeros(len(leaves.room), dtype=np.int64)
            for number, domain in one.odd.items():
                taken[domain] += need.sizes[number]
            units = (leaves.room - taken) // need.full
            used = [known | _alike(parent, odd) for known, parent in zip(leaves.used, leaves.parents, strict=True)]
            count = int(one.fulls.sum())
            choice = fewest_domains(leaves._replace(room=units, used=used), count, self._request.state.nodes.steps)
            chosen = choice.chosen if count else np.zeros(len(units), dtype=np.bool_)
            added = added_by(leaves, chosen | odd)
            fulls = np.diff(np.minimum(np.cumsum(np.where(chosen, units, 0)), count), prepend=0)
            if best is None or added < best[0]:
                best = (added, one._replace(fulls=fulls))
        return (best[1], best[0]) if best is not None else (None, ())

    def _shared(self, inside: Mask, codes: Slots, shares: Sequence[Share], added: tuple[int, ...]) -> Plan:
        request, level = self._request, self._request.slice_level
        by_domain: dict[int, list[str]] = {}
        for share in sorted(shares):
            uids = self._slices[share.slice].uids[self._signature][: share.members]
            by_domain.setdefault(int(codes[share.domain]), []).extend(uids)
        parts = []
        for code in sorted(by_domain):
            within = inside & (request.tree.codes[level] == code)
            if request.last_preferred > level:
                within, _ = request.fewest(within, self.room, len(by_domain[code]), level + 1)
            parts.append((np.flatnonzero(within), by_domain[code]))
        return Plan(sum(share.members for share in shares), added, inside, parts)


def _alike(parent: NDArray[np.int64], leaves: Mask) -> Mask:
    """[leaf]: whether it is in a domain of one of these leaves."""
    return np.isin(parent, parent[leaves])
