"""The decision for one item on one snapshot: all that must start together, or nothing (KEP-4671).

Members that have their place count towards the minimum, so late members and replacements come through the same code, and so
does a lone pod: it is a group of one.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from scheduler.algorithm.attempts import Attempt, best_attempt
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.free_after_nominations import is_room_held_against, nominated_slots, snapshot_for
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.algorithm.topology_domains import best_domain, domains_in_use
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_signature import PodsBySignature
from scheduler.cache.records import EntityKey
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count, over_budget, pre_enqueue, validate_pod_group
from scheduler.plugins.status import Code, Diagnosis, PodGroupDiagnosis, Status

_SUCCESS: Final = Status(Code.SUCCESS)
_NOTHING_TO_DO: Final = Status(Code.SKIP)
_TOPOLOGY: Final = "TopologyPlacementGenerator"
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


def attempt_to_place(
    state: ClusterState,
    members: PodGroupState,
    found: MemberPartition,
    need: int,
    new_snapshot: NewSnapshot,
    search: SearchBudget | None = None,
) -> Attempt | Status:
    """The best attempt to place the pending members, anywhere or inside one value of a label; why there is nowhere to try.

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
    key = members.group.topology_key if members.group else None
    if key is None:
        return best_attempt(found.pending, need, state.nodes, lambda: new_snapshot(None, ""), search=search)
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        values = ", ".join(sorted(pins))
        return Status(Code.ERROR, f"members already run in more than one {key}: {values}", plugin=_TOPOLOGY)
    pin = next(iter(pins), None)
    hoped = None if pin is not None else _hoped(members, found)
    if hoped is not None:
        room_for_all = best_domain(key, None, hoped, sum(hoped.values()), state, new_snapshot)
        if room_for_all is not None and room_for_all.total == sum(hoped.values()):
            pin = room_for_all.domain
    inside = best_domain(key, pin, found.pending, need, state, new_snapshot, search)
    if inside is not None:
        return inside
    value = f" with the value {pin}, where members already run" if pin else ""
    return Status(Code.UNSCHEDULABLE, f"no node has the label {key}{value}", plugin=_TOPOLOGY)


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
    attempt = best_attempt(
        found.pending, members.pending_count, state.nodes, lambda: new_snapshot(nominated, _NOT_NOMINATED)
    )
    return attempt if attempt.total == members.pending_count else None


def _snapshots(state: ClusterState, members: PodGroupState, found: MemberPartition) -> NewSnapshot:
    return lambda allowed, outside: snapshot_for(state, members, allowed, outside, found.topology)


def _scheduled(state: ClusterState, members: PodGroupState, found: MemberPartition, attempt: Attempt) -> Decision:
    is_all = attempt.total == members.pending_count
    return Decision(
        members.key,
        _SUCCESS,
        bindings=_bindings(state, found, attempt),
        carries=any(signature.rules.mounts for signature in found.uids),
        volumes=tuple(attempt.snapshot.matched_volumes().items()),
        claims=any(asks_devices(state, signature) for signature in found.uids),
        devices=_devices(found, attempt),
        failures=() if is_all else _failures(_diagnoses(found, attempt)),
        scheduled_so_far=members.scheduled_count,
        need=members.min_count,
    )


def _devices(found: MemberPartition, attempt: Attempt) -> tuple[DeviceAllocation, ...]:
    if found.topology is None or found.topology.device_claims is None:
        return ()
    slots_of = {
        part.signature: list(
            zip(found.uids[part.signature][: part.total], part.slots.repeat(part.counts).tolist(), strict=True)
        )
        for part in attempt.placed
    }
    return attempt.snapshot.device_allocations(slots_of)


def _bindings(state: ClusterState, found: MemberPartition, attempt: Attempt) -> tuple[tuple[str, str], ...]:
    name_of = state.nodes.names.__getitem__
    bindings: list[tuple[str, str]] = []
    for part in attempt.placed:
        uids = found.uids[part.signature][: part.total]
        bindings += zip(uids, map(name_of, part.slots.repeat(part.counts).tolist()), strict=True)
    return tuple(bindings)


def _diagnoses(
    found: MemberPartition, attempt: Attempt, *, room_is_kept: bool = False
) -> list[tuple[Sequence[str], Diagnosis]]:
    """(UIDs of the members of one signature that got no place, why), for each signature with such members."""
    missing: list[tuple[Sequence[str], Diagnosis]] = []
    for signature, uids in found.uids.items():
        rest = uids[attempt.count(signature) :]
        if rest:
            missing.append((rest, attempt.snapshot.diagnosis(signature, room_is_kept=room_is_kept)))
    return missing


def _failures(missing: list[tuple[Sequence[str], Diagnosis]]) -> tuple[tuple[str, Status], ...]:
    statuses = [(uids, Status(Code.UNSCHEDULABLE, diagnosis=diagnosis)) for uids, diagnosis in missing]
    return tuple((uid, status) for uids, status in statuses for uid in uids)


def _unschedulable(
    state: ClusterState, members: PodGroupState, found: MemberPartition, attempt: Attempt, search_steps: int
) -> Decision:
    is_kept = any(state.reservations.against(members.key, members.priority))
    missing = _diagnoses(found, attempt, room_is_kept=is_kept)
    failures = _failures(missing)
    placed = ((uid, None) for signature, uids in found.uids.items() for uid in uids[: attempt.count(signature)])
    return Decision(
        members.key,
        failures[0][1] if members.is_lone else _of_group(members, attempt, missing[0][1], search_steps),
        failures=(*failures, *placed),
        scheduled_so_far=members.scheduled_count,
        need=members.min_count,
        room_is_held=is_room_held_against(state, members),
    )


def _of_group(members: PodGroupState, attempt: Attempt, of_pod: Diagnosis, search_steps: int) -> Status:
    diagnosis = PodGroupDiagnosis(
        need=members.min_count,
        placed=attempt.total,
        pending=members.pending_count,
        scheduled=members.scheduled_count,
        topology_key=members.group.topology_key if members.group else None,
        best_domain=attempt.domain,
        pod=of_pod,
        certainty=attempt.certainty,
        incomplete_reason=attempt.incomplete_reason,
        search_steps=search_steps,
    )
    return Status(Code.UNSCHEDULABLE, diagnosis=diagnosis)


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
