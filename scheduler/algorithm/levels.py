"""The places of a gang that asks for several levels of the topology, or for slices.

In this order: all members inside one domain of each required level; as many of them as there is room for; as few domains as
possible of each preferred level, widest first; as few neighbouring ranks as possible apart (`rank_order`); then the domain that
is fuller afterwards, and the scores of nodes. A preferred level never makes anybody wait: where its domains do not suffice, the
whole domain of the required level is used.

Every domain of the narrowest required level is a candidate. Equal members are counted in each of them, exactly
(`identical_in_levels`). For others counting is an upper bound: attempts are made in the fewest domains that could do, then in those
that could take some more, then everywhere in the candidate.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS
from scheduler.algorithm.attempt import Attempt, AttemptBudget
from scheduler.algorithm.attempts import PODS_DIFFER, PODS_LIMIT_EACH_OTHER, affect_each_other, best_attempt
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.identical import PodsByNode
from scheduler.algorithm.identical_in_levels import IdenticalInLevels, Plan
from scheduler.algorithm.level_request import NOWHERE, LevelRequest
from scheduler.algorithm.mixed_slices import MixedSlices
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodsBySignature, PodSignature
from scheduler.plugins.status import Certainty, Status

Mask = NDArray[np.bool_]

_MORE_ROOM: Final = (1.0, 1.2, 1.6)
"""Times the members for which domains are chosen where counting is only an upper bound."""
_SURE_TO_UNSURE: Final = (Certainty.COUNTED, Certainty.PROVED, Certainty.NOT_FOUND, Certainty.NOT_SEARCHED)
_PREFERRED_ELSEWHERE: Final = "node(s) were in other domains"
SLICES_DIFFER: Final = "the pods of a slice differ in what they need, or limit each other."


class _Candidate(NamedTuple):
    """A domain of the narrowest required level: its value, its nodes, `[node]`, how many members it takes at most."""

    value: str
    inside: Mask
    most: int


def best_in_levels(
    request: LevelRequest,
    members: PodGroupState,
    wanted: int,
    new_snapshot: NewSnapshot,
    search: SearchBudget | None = None,
) -> Attempt | Status | None:
    """The best attempt over all domains of the required levels; why there is none; None when no node has their labels.

    Args:
        request: what the members ask for.
        members: the item.
        wanted: members that must get a place together.
        new_snapshot: makes a snapshot for one try, on some nodes.
        search: what may be spent on searching all placements in domains where no way was enough; None for no search.

    Raises:
        OverBudgetError: more steps are needed than the computation under way may take.
    """
    if isinstance(request.slices, Status):
        return request.slices
    candidates = _candidates(request)
    if not candidates:
        return None
    outside = f"node(s) were in another {request.tree.keys[request.required]}" if request.required != NOWHERE else ""
    if request.are_identical:
        return _best_of_identical(request, members, candidates, wanted, new_snapshot, outside)
    return _best_of_mixed(request, candidates, wanted, new_snapshot, outside, search)


def _candidates(request: LevelRequest) -> list[_Candidate]:
    """Those that take most members first, then those that are fuller afterwards, then by name."""
    nodes = request.state.nodes
    column = nodes.label_column(request.tree.keys[request.required]) if request.required != NOWHERE else None
    found: list[tuple[tuple[int, float, str], _Candidate]] = []
    for _, inside in request.candidates():
        request.everywhere.spend(2 + len(request.pending))
        usable = request.in_slices(inside)
        rooms = ((count, int(request.room[one][usable].sum())) for one, count in request.pending.items())
        most = sum(min(count, room) for count, room in rooms)
        value = column.values[column.codes[inside.argmax()]] or "" if column is not None else ""
        # Without a required level there is one candidate, and nothing to compare it with.
        fullness = _fullness(request, inside) if column is not None else 0.0
        order = (-most, -fullness, value)
        found.append((order, _Candidate(value, inside, most)))
    return [candidate for _, candidate in sorted(found, key=lambda one: one[0])]


def _fullness(request: LevelRequest, inside: Mask) -> float:
    """The shares of all there is that would be taken, summed over what the members ask for."""
    nodes, share = request.state.nodes, 0.0
    wanted: Counter[str] = Counter()
    for signature, count in request.pending.items():
        wanted.update({name: count * amount for name, amount in signature.demand.amounts.items() if name != PODS})
    offered = nodes.offered(np.flatnonzero(inside))
    for name, amount in wanted.items():
        row = nodes.row_of.get(name)
        if row is not None:
            total = float(offered[row].sum())
            share += (total - float(nodes.free[row, inside].sum()) + amount) / max(total, 1.0)
    return share


# --- equal members -----------------------------------------------------------------------------------------------------


def _best_of_identical(
    request: LevelRequest,
    members: PodGroupState,
    candidates: list[_Candidate],
    wanted: int,
    new_snapshot: NewSnapshot,
    outside: str,
) -> Attempt:
    identical = IdenticalInLevels(request, members, wanted)
    best: tuple[_Candidate, Plan] | None = None
    for candidate in candidates:
        if best is not None and candidate.most < best[1].total:
            break
        plan = identical.plan(candidate.inside)
        if best is None or (-plan.total, plan.added) < (-best[1].total, best[1].added):
            best = candidate, plan
        # Who runs nowhere adds a domain of each level at least.
        is_least = not len(request.used) and sum(plan.added) <= len(plan.added)
        if is_least and plan.total == sum(request.pending.values()):
            break
    if best is None:
        raise ValueError("nothing to try")
    candidate, plan = best
    attempt = identical.attempt(plan, new_snapshot(plan.inside, outside or _PREFERRED_ELSEWHERE))
    attempt.domain = candidate.value
    return attempt


# --- others ------------------------------------------------------------------------------------------------------------


def _best_of_mixed(
    request: LevelRequest,
    candidates: list[_Candidate],
    wanted: int,
    new_snapshot: NewSnapshot,
    outside: str,
    search: SearchBudget | None,
) -> Attempt:
    best: Attempt | None = None
    budget = AttemptBudget(request.pending)
    certainty = Certainty.COUNTED
    for candidate in candidates:
        if best is not None and (candidate.most < wanted or candidate.most <= best.total):
            break
        if request.slice_level != NOWHERE and not isinstance(request.slices, Status):
            attempt = MixedSlices(request, request.slices, wanted, new_snapshot).attempt(candidate.inside, outside)
            is_sure = attempt.total >= wanted or candidate.most < wanted
            attempt.certainty = Certainty.COUNTED if is_sure else Certainty.NOT_SEARCHED
        else:
            attempt = _in_few_domains(request, candidate, new_snapshot, budget) or best_attempt(
                request.pending,
                wanted,
                request.state.nodes,
                lambda: new_snapshot(candidate.inside, outside),  # noqa: B023
                budget,
                search,
            )
        attempt.domain = candidate.value
        certainty = max(certainty, attempt.certainty, key=_SURE_TO_UNSURE.index)
        if best is None or attempt.total > best.total:
            best = attempt
    if best is None:
        raise ValueError("nothing to try")
    best.certainty = certainty
    is_certain = certainty in {Certainty.COUNTED, Certainty.PROVED}
    best.incomplete_reason = "" if is_certain else _incomplete_reason(request)
    return best


def _incomplete_reason(request: LevelRequest) -> str:
    if request.slice_level != NOWHERE:
        return SLICES_DIFFER
    is_limiting = affect_each_other(request.everywhere, request.pending)
    return PODS_LIMIT_EACH_OTHER if is_limiting else PODS_DIFFER


def _in_few_domains(
    request: LevelRequest, candidate: _Candidate, new_snapshot: NewSnapshot, budget: AttemptBudget
) -> Attempt | None:
    """All members in the fewest domains of preferred levels that will do, as far as a few tries tell; None when none will."""
    count = sum(request.pending.values())
    if request.last_preferred == NOWHERE or candidate.most < count:
        return None
    room = estimated_room(request.pending, request.room, candidate.inside)
    tried: Mask | None = None
    for more in _MORE_ROOM:
        inside, _ = request.fewest(candidate.inside, room, int(count * more))
        if tried is not None and (inside == tried).all():
            continue
        tried = inside
        attempt = best_attempt(
            request.pending,
            count,
            request.state.nodes,
            lambda: new_snapshot(inside, _PREFERRED_ELSEWHERE),  # noqa: B023
            budget,
        )
        if attempt.total == count:
            return attempt
    return None


def estimated_room(
    pending: PodsBySignature, room: Mapping[PodSignature, PodsByNode], inside: Mask
) -> NDArray[np.int64]:
    """[node] about how many members it takes when they come mixed as they are: by the room for each kind, weighted.

    Args:
        pending: members by signature; at least one.
        room: by signature: no more of it than this fit on a node, `[node]`.
        inside: the nodes that are asked about, `[node]`; the others take none.
    """
    count = sum(pending.values())
    taken = np.zeros(len(inside))
    for signature, members in pending.items():
        # A node that takes none of a kind can still take the others.
        taken += np.where(room[signature] > 0, members / count / np.maximum(room[signature], 1), 0.0)
    most = np.sum([np.minimum(room[one], members) for one, members in pending.items()], axis=0)
    about = np.minimum(np.floor(1.0 / np.maximum(taken, 1e-9) + 1e-6), most)
    return np.where(inside, about, 0).astype(np.int64)
