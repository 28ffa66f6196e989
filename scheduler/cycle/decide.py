"""The decision for one item on one snapshot: all that must start together, or nothing (KEP-4671).

Members that have their place count towards the minimum, so late members and replacements come through the same code, and so
does a lone pod: it is a group of one.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler.cycle.decision import Decision, Verdict
from scheduler.cycle.objections import objection
from scheduler.cycle.over_budget import over_budget
from scheduler.cycle.place import TWO_DOMAINS, attempt_to_place
from scheduler.filters.explain import sentence
from scheduler.placement.attempts import Attempt, best_attempt
from scheduler.placement.muster import Muster, muster
from scheduler.placement.room import is_room_held, new_trial, nominated_slots
from scheduler.placement.trial import Trial
from scheduler.queue.gate import gate
from scheduler.queue.wake import wanted
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.records import ItemKey
from scheduler.state.steps import OverBudgetError

_Allowed = NDArray[np.bool_] | None

_NOT_NOMINATED: Final = "node(s) were not nominated"
_ONE_POD: Final = 5_000
"""Steps of a pod that is placed, beside looking for its place."""
_KEPT: Final = " Some room is kept for other groups."


def decide(state: ClusterState, key: ItemKey, aim: int = 0) -> Decision:
    """Where the pending members of an item go, or why they go nowhere. Reads the state, changes nothing in it.

    With `aim` so many members must get a place together, if that is more than what must start together.
    """
    members = state.item(key)
    if members is None or not members.pending:
        return Decision(key, "nothing")
    held = gate(members)
    if held is not None:
        return Decision(key, "nothing", condition_message=held.message)
    problem = objection(members, state.most_members)
    if problem:
        return _refused(members, "error", problem)
    try:
        with state.nodes.steps.limited("decision"):
            return _decided(state, members, aim)
    except OverBudgetError:
        return msgspec.structs.replace(_refused(members, "error", over_budget(members)), is_over_budget=True)


def _decided(state: ClusterState, members: Members, aim: int) -> Decision:
    state.nodes.steps.spend(_ONE_POD * members.pending_count)
    found = muster(state, members)
    attempt = _attempt(state, members, found, max(wanted(members), aim))
    if isinstance(attempt, str):
        return _refused(members, "error" if attempt.startswith(TWO_DOMAINS) else "unschedulable", attempt)
    if attempt.total >= max(wanted(members), aim):
        return _scheduled(state, members, found, attempt)
    refusal = _unschedulable(state, members, found, attempt)
    return _hoping(members, refusal, attempt, aim) if attempt.total >= wanted(members) else refusal


def _attempt(state: ClusterState, members: Members, found: Muster, need: int) -> Attempt | str:
    def trial(allowed: _Allowed = None, outside: str = "") -> Trial:
        return new_trial(state, members, allowed, outside, found.relations)

    nominated = nominated_slots(state, members)
    if nominated is not None:
        # What was cleared for the item is taken first, even if a better node has become free.
        attempt = best_attempt(found.pending, need, state.nodes, lambda: trial(nominated, _NOT_NOMINATED))
        if attempt.total == members.pending_count:
            return attempt
    return attempt_to_place(state, members, found, need, trial)


def _scheduled(state: ClusterState, members: Members, found: Muster, attempt: Attempt) -> Decision:
    leftovers = tuple(_leftovers(state, found, attempt)) if attempt.total < members.pending_count else ()
    return Decision(
        members.key,
        "scheduled",
        bindings=_bindings(state, found, attempt),
        carries=any(shape.rules.mounts for shape in found.parts),
        volumes=tuple(attempt.trial.matched_volumes().items()),
        failures=leftovers,
        scheduled_so_far=members.satisfied,
        need=members.need,
    )


def _bindings(state: ClusterState, found: Muster, attempt: Attempt) -> tuple[tuple[str, str], ...]:
    name_of = state.nodes.names.__getitem__
    bindings: list[tuple[str, str]] = []
    for part in attempt.placed:
        uids = found.parts[part.shape][: part.total]
        bindings += zip(uids, map(name_of, part.slots.repeat(part.counts).tolist()), strict=True)
    return tuple(bindings)


def _leftovers(state: ClusterState, found: Muster, attempt: Attempt) -> Iterator[tuple[str, str]]:
    for shape, uids in found.parts.items():
        rest = uids[attempt.count(shape) :]
        if rest:
            message = sentence(state.nodes_total, attempt.trial.reasons(shape))
            yield from ((uid, message) for uid in rest)


def _unschedulable(state: ClusterState, members: Members, found: Muster, attempt: Attempt) -> Decision:
    kept = _KEPT if any(state.reservations.against(members.key, members.priority)) else ""
    failures = {uid: text + kept for uid, text in _leftovers(state, found, attempt)}
    is_lone = members.is_lone
    message = next(iter(failures.values())) if is_lone else _group_message(state, members, found, attempt) + kept
    for shape, uids in found.parts.items():
        for uid in uids[: attempt.count(shape)]:
            failures[uid] = f"pod group is unschedulable, {message}"
    return Decision(
        members.key,
        "unschedulable",
        failures=tuple(failures.items()),
        condition_message=message,
        scheduled_so_far=members.satisfied,
        need=members.need,
        room_is_held=is_room_held(state, members),
    )


def _group_message(state: ClusterState, members: Members, found: Muster, attempt: Attempt) -> str:
    beside = f" beside {members.satisfied} already scheduled" if members.satisfied else ""
    key = members.group.topology_key if members.group else None
    inside = f" inside one {key} (best: {attempt.domain})" if key else ""
    short = next(shape for shape, uids in found.parts.items() if attempt.count(shape) < len(uids))
    reasons = sentence(
        state.nodes_total, attempt.trial.reasons(short), what_for=" for the rest" if attempt.total else ""
    )
    doubt = "" if attempt.proven else f" A placement may exist that was not found: {attempt.doubt}"
    return (
        f"minCount ({members.need}) cannot be satisfied: {attempt.total} of {members.pending_count} pods "
        f"can be placed{beside}{inside}; {reasons}{doubt}"
    )


def _hoping(members: Members, refusal: Decision, attempt: Attempt, aim: int) -> Decision:
    message = f"waiting a little for room for all {aim} pods it would like to start with: {attempt.total} can be placed"
    failures = ((uid, message) for waiting in members.pending.values() for uid in waiting.uids)
    return msgspec.structs.replace(refusal, failures=tuple(failures), condition_message=message, is_hope=True)


def _refused(members: Members, verdict: Verdict, message: str) -> Decision:
    failures = tuple((uid, message) for waiting in members.pending.values() for uid in waiting.uids)
    return Decision(
        members.key,
        verdict,
        failures=failures,
        condition_message=message,
        scheduled_so_far=members.satisfied,
        need=members.need,
    )
