"""The decision for one item on one snapshot: all that must start together, or nothing (KEP-4671).

Members that have their place count towards the minimum, so late members and replacements come through the same code, and so
does a lone pod: it is a group of one.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from api.topology import ANYWHERE, TopologyRequest
from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.attempts import best_attempt
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.free_after_nominations import is_room_held_against, nominated_slots, snapshot_for
from scheduler.algorithm.level_request import LevelRequest
from scheduler.algorithm.levels import best_in_levels
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.rank_order import DealtMembers, deal
from scheduler.algorithm.schedule_tree import TreeRefusal, attempt_to_place_tree
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.algorithm.topology_domains import NAME, best_domain, pinned_values
from scheduler.algorithm.tree_placement import TreeAttempt
from scheduler.algorithm.upper_bound import most_in_domain
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodsBySignature
from scheduler.cache.records import EntityKey
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count, over_budget, pre_enqueue, validate_pod_group
from scheduler.plugins.status import Code, Diagnosis, PodGroupDiagnosis, Status

_SUCCESS: Final = Status(Code.SUCCESS)
_NOTHING_TO_DO: Final = Status(Code.SKIP)
_NOT_NOMINATED: Final = "node(s) were not nominated"
_ONE_POD: Final = 5_000
"""Steps of a pod that is placed, beside looking for its place."""
_HOPING: Final = "waiting a little for room for all {} pods it would like to start with: {} can be placed"


def decide(state: ClusterState, key: EntityKey, aim: int = 0) -> Decision:
    """Where the pending members of an item go, or why they go nowhere. Reads the state, changes nothing in it.

    Args:
        state: the cluster.
        key: the item.
        aim: so many members must get a place together, if that is more than what must start together.
    """
    members = state.item(key)
    if members is None or not members.pending:
        return Decision(key, _NOTHING_TO_DO)
    gate = pre_enqueue(members)
    if gate is not None:
        return Decision(key, gate)
    problem = validate_pod_group(
        members,
        state.most_members,
        devices_are_followed=state.devices.is_followed,
        devices_are_unknown=state.devices.is_unknown,
    )
    if problem is not None:
        return _refused(members, problem)
    need = missing_count(members)
    try:
        with state.nodes.steps.limited("decision"):
            state.nodes.steps.spend(_ONE_POD * members.pending_count)
            found = partition_by_signature(state, members)
            if isinstance(members, TreeState):
                return _decide_tree(state, members, found)
            # Who only hopes for more is tried again without hope.
            search = SearchBudget() if aim <= need else None
            attempt = _on_nominated_nodes(state, members, found) or attempt_to_place(
                state, members, found, max(need, aim), _snapshots(state, members, found), search
            )
            if isinstance(attempt, Status):
                return _refused(members, attempt)
            if attempt.total >= max(need, aim):
                return _scheduled(state, members, found, attempt)
            refusal = _unschedulable(state, members, found, attempt, search.spent if search else 0)
    except OverBudgetError:
        return msgspec.structs.replace(_refused(members, over_budget(members)), is_over_budget=True)
    return _hoping(members, refusal, attempt, aim) if attempt.total >= need else refusal


def _decide_tree(state: ClusterState, tree: TreeState, found: MemberPartition) -> Decision:
    on_nominated = None if tree.is_constrained_below else _on_nominated_nodes(state, tree, found)
    if on_nominated is not None:
        return _scheduled(state, tree, found, on_nominated)
    new_snapshot = _snapshots(state, tree, found)
    made = attempt_to_place_tree(state, tree, found, new_snapshot, attempt_to_place)
    if isinstance(made, TreeRefusal) and tree.is_constrained_below:
        # Its groups may have chosen domains where others of them then had no room; what was cleared is enough for it.
        nominated = nominated_slots(state, tree)
        if nominated is not None:
            inside = _within(nominated, _NOT_NOMINATED, new_snapshot)
            cleared = attempt_to_place_tree(state, tree, found, inside, attempt_to_place)
            made = cleared if isinstance(cleared, TreeAttempt) else made
    if isinstance(made, TreeAttempt):
        return _scheduled(state, tree, found, made.attempt, made.dealt)
    if made.status.code is Code.ERROR:
        return _refused(tree, made.status)
    refused = frozenset(made.uids)
    statuses = {True: made.of_pods, False: None}
    return Decision(
        tree.key,
        made.status,
        failures=tuple((uid, statuses[uid in refused]) for uids in found.uids.values() for uid in uids),
        scheduled_so_far=tree.scheduled_count,
        need=tree.min_count,
        room_is_held=is_room_held_against(state, tree),
    )


def attempt_to_place(
    state: ClusterState,
    members: PodGroupState,
    found: MemberPartition,
    need: int,
    new_snapshot: NewSnapshot,
    search: SearchBudget | None = None,
) -> Attempt | Status:
    """The best attempt to place the pending members, as near to each other as they ask for; why there is nowhere to try.

    Args:
        state: the cluster; which of its room may be used is left to `new_snapshot`.
        members: the item.
        found: its pending members by what they need.
        need: members that must get a place together.
        new_snapshot: makes a snapshot for one try.
        search: what may be spent on searching all placements when no way was enough; None for no search.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may cost.
    """
    if isinstance(members, TreeState) and members.is_confined_below:
        return _of_tree(state, members, found, new_snapshot)
    request = members.group.topology if members.group is not None else ANYWHERE
    if request == ANYWHERE:
        return best_attempt(found.pending, need, state.nodes, lambda: new_snapshot(None, ""), search=search)
    pins = pinned_values(state, members)
    if isinstance(pins, Status):
        return pins
    key = request.required_key
    hoped = _hoped(members, found) if key is not None and key not in pins else None
    if key is not None and hoped is not None:
        room_for_all = best_domain(key, None, hoped, sum(hoped.values()), state, new_snapshot)
        if room_for_all is not None and room_for_all.total == sum(hoped.values()):
            pins[key] = room_for_all.domain
    if key is not None and len(request.levels) == 1 and not request.slice_size:
        inside: Attempt | Status | None = best_domain(
            key, pins.get(key), found.pending, need, state, new_snapshot, search
        )
    else:
        levels = LevelRequest(state, members, found, request, new_snapshot, _nodes_with(state, pins))
        inside = best_in_levels(levels, members, need, new_snapshot, search)
    if inside is not None:
        return inside
    return _no_such_nodes(request, pins)


def _nodes_with(state: ClusterState, pins: Mapping[str, str]) -> NDArray[np.bool_] | None:
    """[node]: whether it has these labels; None for no labels."""
    found: NDArray[np.bool_] | None = None
    for key, value in pins.items():
        column = state.nodes.label_column(key)
        has = column.one_of((value,), np.arange(state.nodes.slots))
        found = has if found is None else found & has
    return found


def _no_such_nodes(request: TopologyRequest, pins: Mapping[str, str]) -> Status:
    said = [
        f"{level.key}{f' with the value {pins[level.key]}, where members already run' if level.key in pins else ''}"
        for level in request.levels
        if level.is_required
    ]
    labels = "label" if len(said) == 1 else "labels"
    return Status(Code.UNSCHEDULABLE, f"no node has the {labels} {' and '.join(said)}", plugin=NAME)


def _hoped(members: PodGroupState, found: MemberPartition) -> PodsBySignature | None:
    """The members a group would like to have, the missing ones like the most common of those there are; None when none miss."""
    group = members.group
    missing = group.waiting.desired_count - members.scheduled_count - members.pending_count if group else 0
    if missing <= 0:
        return None
    most = max(found.pending, key=lambda signature: found.pending[signature])
    return {**found.pending, most: found.pending[most] + missing}


def _on_nominated_nodes(state: ClusterState, members: PodGroupState, found: MemberPartition) -> Attempt | None:
    """What was cleared for the item is taken first, even if a better node has become free; None when not all fit in there."""
    nominated = nominated_slots(state, members)
    if nominated is None:
        return None
    new_snapshot = _snapshots(state, members, found)
    # Nominated nodes are inside one domain of each required level.
    attempt = attempt_on_nodes(state, members, found, members.pending_count, new_snapshot, nominated, _NOT_NOMINATED)
    return attempt if attempt.total == members.pending_count else None


def attempt_on_nodes(
    state: ClusterState,
    members: PodGroupState,
    found: MemberPartition,
    need: int,
    new_snapshot: NewSnapshot,
    allowed: NDArray[np.bool_] | None,
    outside: str,
) -> Attempt:
    """The best attempt on these nodes, which are inside one domain of each required level, whatever levels are preferred.

    Args:
        state: the cluster.
        members: the item.
        found: its pending members.
        need: members that must get a place together.
        new_snapshot: makes a snapshot for one try, on some nodes.
        allowed: the nodes, `[node]`; None for all.
        outside: the reason to give for others.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may cost.
    """
    if isinstance(members, TreeState) and members.is_confined_below:
        of_tree = _of_tree(state, members, found, _within(allowed, outside, new_snapshot))
        return of_tree if isinstance(of_tree, Attempt) else Attempt(new_snapshot(allowed, outside), [])
    request = members.group.topology if members.group is not None else ANYWHERE
    if request.slice_size:
        levels = LevelRequest(state, members, found, request, new_snapshot, allowed, has_preferences=False)
        attempt = best_in_levels(levels, members, need, new_snapshot)
        if isinstance(attempt, Attempt):
            return attempt
    return best_attempt(found.pending, need, state.nodes, lambda: new_snapshot(allowed, outside))


def _of_tree(
    state: ClusterState, tree: TreeState, found: MemberPartition, new_snapshot: NewSnapshot
) -> Attempt | Status:
    made = attempt_to_place_tree(state, tree, found, new_snapshot, attempt_to_place)
    return made.attempt if isinstance(made, TreeAttempt) else made.status


def _within(allowed: NDArray[np.bool_] | None, outside: str, new_snapshot: NewSnapshot) -> NewSnapshot:
    """Snapshots of nothing but these nodes; `outside` says why not others."""
    if allowed is None:
        return new_snapshot
    return lambda inside, why: new_snapshot(allowed if inside is None else allowed & inside, why or outside)


def _snapshots(state: ClusterState, members: PodGroupState, found: MemberPartition) -> NewSnapshot:
    return lambda allowed, outside: snapshot_for(state, members, allowed, outside, found.topology)


def _scheduled(
    state: ClusterState,
    members: PodGroupState,
    found: MemberPartition,
    attempt: Attempt,
    known: DealtMembers | None = None,
) -> Decision:
    is_all = attempt.total == members.pending_count
    dealt = known if known is not None else deal(state, members, found, attempt)
    return Decision(
        members.key,
        _SUCCESS,
        bindings=_bindings(state, dealt),
        carries=any(signature.rules.mounts for signature in found.uids),
        volumes=tuple(attempt.snapshot.matched_volumes().items()),
        claims=any(asks_devices(state, signature) for signature in found.uids),
        devices=_devices(found, attempt, dealt),
        failures=() if is_all else _failures(_diagnoses(dealt, attempt)),
        scheduled_so_far=members.scheduled_count,
        need=members.min_count,
    )


def _devices(found: MemberPartition, attempt: Attempt, dealt: DealtMembers) -> tuple[DeviceAllocation, ...]:
    if found.topology is None or found.topology.device_claims is None:
        return ()
    slots_of = {
        part.signature: list(zip(dealt[part.signature].uids, dealt[part.signature].slots, strict=True))
        for part in attempt.placed
    }
    return attempt.snapshot.device_allocations(slots_of)


def _bindings(state: ClusterState, dealt: DealtMembers) -> tuple[tuple[str, str], ...]:
    name_of = state.nodes.names.__getitem__
    bindings: list[tuple[str, str]] = []
    for uids, slots, _ in dealt.values():
        bindings += zip(uids, map(name_of, slots), strict=True)
    return tuple(bindings)


def _diagnoses(
    dealt: DealtMembers, attempt: Attempt, *, room_is_kept: bool = False
) -> list[tuple[Sequence[str], Diagnosis]]:
    """(UIDs of the members of one signature that got no place, why), for each signature with such members."""
    return [
        (members.rest, attempt.snapshot.diagnosis(signature, room_is_kept=room_is_kept))
        for signature, members in dealt.items()
        if members.rest
    ]


def _failures(missing: list[tuple[Sequence[str], Diagnosis]]) -> tuple[tuple[str, Status], ...]:
    statuses = [(uids, Status(Code.UNSCHEDULABLE, diagnosis=diagnosis)) for uids, diagnosis in missing]
    return tuple((uid, status) for uids, status in statuses for uid in uids)


def _unschedulable(
    state: ClusterState, members: PodGroupState, found: MemberPartition, attempt: Attempt, search_steps: int
) -> Decision:
    is_kept = state.reservations.is_held_against(members.key, members.priority)
    dealt = deal(state, members, found, attempt)
    missing = _diagnoses(dealt, attempt, room_is_kept=is_kept)
    failures = _failures(missing)
    placed = ((uid, None) for group in dealt.values() for uid in group.uids)
    return Decision(
        members.key,
        failures[0][1] if members.is_lone else _of_group(state, members, found, attempt, missing[0][1], search_steps),
        failures=(*failures, *placed),
        scheduled_so_far=members.scheduled_count,
        need=members.min_count,
        room_is_held=is_room_held_against(state, members),
    )


def _of_group(
    state: ClusterState,
    members: PodGroupState,
    found: MemberPartition,
    attempt: Attempt,
    of_pod: Diagnosis,
    search_steps: int,
) -> Status:
    request = members.group.topology if members.group is not None else ANYWHERE
    wider_key, wider_most = _wider_level_in_the_way(state, members, found, request)
    diagnosis = PodGroupDiagnosis(
        need=members.min_count,
        placed=attempt.total,
        pending=members.pending_count,
        scheduled=members.scheduled_count,
        topology_key=request.required_key,
        best_domain=attempt.domain,
        wider_key=wider_key,
        wider_most=wider_most,
        slice_size=request.slice_size,
        slice_key=request.slice_key,
        pod=of_pod,
        certainty=attempt.certainty,
        incomplete_reason=attempt.incomplete_reason,
        search_steps=search_steps,
    )
    return Status(Code.UNSCHEDULABLE, diagnosis=diagnosis)


def _wider_level_in_the_way(
    state: ClusterState, members: PodGroupState, found: MemberPartition, request: TopologyRequest
) -> tuple[str, int]:
    """The widest required level, the narrowest apart, that takes too few members whatever the others; and how many it takes."""
    wider = [level.key for level in request.levels if level.is_required][:-1]
    for key in wider:
        everywhere = snapshot_for(state, members, None, "", found.topology)
        most = int(most_in_domain(key, None, found.pending, state.nodes, everywhere).max(initial=0))
        if most < missing_count(members):
            return key, most
    return "", 0


def _hoping(members: PodGroupState, refusal: Decision, attempt: Attempt, aim: int) -> Decision:
    status = Status(Code.PENDING, _HOPING, (aim, attempt.total))
    return msgspec.structs.replace(refusal, status=status, failures=_everybody(members, status))


def _refused(members: PodGroupState, status: Status) -> Decision:
    return Decision(
        members.key,
        status,
        failures=_everybody(members, status),
        scheduled_so_far=members.scheduled_count,
        need=members.min_count,
    )


def _everybody(members: PodGroupState, status: Status) -> tuple[tuple[str, Status], ...]:
    return tuple((uid, status) for waiting in members.pending.values() for uid in waiting.uids)
