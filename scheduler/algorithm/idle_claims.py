"""Claims that have devices and no user, and with these keep an item from its place: which of them to take the devices off.

Such a claim ties its pods to the nodes of its devices, be it from an earlier attempt of another scheduler or because somebody
allocated it by hand. Only what the item uses itself is looked at, and only if it finds a place without: kube-scheduler's
PostFilter does the same, one claim at a time. Beside these, claims of less important groups none of whose pods has a place are
looked at (`devices.group_claims`), as far as the item may have others evicted.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.algorithm.devices.group_claims import idle_group_claims
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.schedule_pod_group import attempt_to_place
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import ClaimRecord
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count, pre_enqueue
from scheduler.plugins.status import Status

_DEALLOCATED: Final = "deallocation of ResourceClaim completed"
_DELETED: Final = "deletion of ResourceClaim completed"
MOST_TRIED: Final = 8
"""Up to so many claims each is asked whether it can keep its devices; of more, all lose theirs."""


def claims_in_the_way(state: ClusterState, key: EntityKey) -> tuple[ClaimRecord, ...]:
    """The idle claims without whose devices an item that was refused would have its place; none when that does not help."""
    members = state.item(key)
    if members is None or not members.pending or pre_enqueue(members) is not None:
        return ()
    if not any(asks_devices(state, signature) for signature in members.pending):
        return ()
    idle = list(_idle(state, members))
    of_groups = list(idle_group_claims(state, members)) if members.may_preempt else []
    try:
        with state.nodes.steps.limited("decision"):
            if not idle or not _fits(state, members, idle):
                idle = _with_those_of_groups(state, members, idle, of_groups)
            if not idle:
                return ()
            for claim in list(idle) if len(idle) <= MOST_TRIED else ():
                others = [one for one in idle if one is not claim]
                if others and _fits(state, members, others):
                    idle = others
    except OverBudgetError:
        return ()
    return tuple(idle)


def with_deallocation(decision: Decision) -> Decision:
    """The decision once such claims have been found and lose their devices (upstream: PostFilter)."""
    return _with(decision, _DEALLOCATED)


def with_deletion(decision: Decision) -> Decision:
    """The decision once claims were found that an earlier attempt has left over, and are deleted."""
    return _with(decision, _DELETED)


def _with(decision: Decision, said: str) -> Decision:
    status = msgspec.structs.replace(decision.status, post_filter=said)
    failures = decision.failures
    if decision.key.kind == "pod":
        failures = tuple((uid, status) for uid, _ in failures)
    return msgspec.structs.replace(decision, status=status, failures=failures)


def _idle(state: ClusterState, members: PodGroupState) -> Iterator[ClaimRecord]:
    """Claims of the members that are tied to some nodes and that nobody has reserved who has a place."""
    waiting = {uid for pods in members.pending.values() for uid in pods.uids}
    # Its group is such a user as long as none of its pods has a place.
    users = waiting | ({members.group.uid} if members.group is not None and not members.scheduled_count else set())
    seen: set[str] = set()
    for uid in sorted(waiting):
        pod = state.pod(uid)
        for use in pod.claims.uses if pod is not None and pod.claims is not None else ():
            claim = state.devices.claims.get((pod.namespace, use.claim)) if pod is not None else None
            if claim is None or claim.metadata.uid in seen or state.devices.is_assumed(claim.key):
                continue
            seen.add(claim.metadata.uid)
            is_idle = claim.allocation is not None and claim.reserved_for.keys() <= users
            if is_idle and claim.terms is not None and not claim.metadata.is_terminating:
                yield claim


def _with_those_of_groups(
    state: ClusterState, members: PodGroupState, idle: list[ClaimRecord], of_groups: list[ClaimRecord]
) -> list[ClaimRecord]:
    """These idle claims and so many of groups that the item fits, the least important groups' first; none when all do not do."""
    if not of_groups or not _fits(state, members, idle + of_groups):
        return []
    too_few, enough = 0, len(of_groups)
    while too_few + 1 < enough:
        tried = (too_few + enough) // 2
        if _fits(state, members, idle + of_groups[:tried]):
            enough = tried
        else:
            too_few = tried
    return idle + of_groups[:enough]


def _fits(state: ClusterState, members: PodGroupState, freed: Sequence[ClaimRecord]) -> bool:
    found = partition_by_signature(state, members, freed)
    need = missing_count(members)
    attempt = attempt_to_place(
        state, members, found, need, lambda allowed, why: snapshot_for(state, members, allowed, why, found.topology)
    )
    return not isinstance(attempt, Status) and attempt.total >= need
