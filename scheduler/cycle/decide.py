"""The decision for one item on one snapshot: all that must start together, or nothing (KEP-4671).

Members that have their place count towards the minimum, so late members and replacements come through the same code, and so
does a lone pod: it is a group of one.
"""

from collections.abc import Iterator

from scheduler.cycle.decision import Decision, Verdict
from scheduler.cycle.objections import objection
from scheduler.filters.explain import sentence
from scheduler.placement.domains import best_domain, domains_in_use
from scheduler.placement.mixed import Attempt, Pending, best_attempt
from scheduler.placement.trial import Trial
from scheduler.queue.gate import gate
from scheduler.queue.wake import wanted
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.records import ItemKey


def decide(state: ClusterState, key: ItemKey) -> Decision:
    """Where the pending members of an item go, or why they go nowhere. Reads the state, changes nothing in it."""
    members = state.item(key)
    if members is None or not members.pending:
        return Decision(key, "nothing")
    held = gate(members)
    if held is not None:
        return Decision(key, "nothing", condition_message=held.message)
    problem = objection(members)
    if problem:
        return _refused(members, "error", problem)
    pending = {shape: len(waiting) for shape, waiting in members.pending.items()}
    attempt = _attempt(state, members, pending)
    if isinstance(attempt, Decision):
        return attempt
    if attempt.total >= wanted(members):
        return _scheduled(state, members, attempt)
    return _unschedulable(state, members, attempt)


def _attempt(state: ClusterState, members: Members, pending: Pending) -> Attempt | Decision:
    key = members.group.topology_key if members.group else None
    need = wanted(members)
    if key is None:
        return best_attempt(pending, need, state.nodes, lambda: Trial(state.nodes, state.ports, state.fits))
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        return _refused(members, "error", f"members already run in more than one {key}: {', '.join(sorted(pins))}")
    pin = next(iter(pins), None)
    found = best_domain(
        key,
        pin,
        pending,
        need,
        state.nodes,
        lambda allowed, outside: Trial(state.nodes, state.ports, state.fits, allowed, outside),
    )
    if found is not None:
        return found
    value = f" with the value {pin}, where members already run" if pin else ""
    return _refused(members, "unschedulable", f"no node has the label {key}{value}")


def _scheduled(state: ClusterState, members: Members, attempt: Attempt) -> Decision:
    leftovers = tuple(_leftovers(state, members, attempt)) if attempt.total < members.pending_count else ()
    return Decision(
        members.key,
        "scheduled",
        bindings=_bindings(state, members, attempt),
        failures=leftovers,
        scheduled_so_far=members.satisfied,
        need=members.need,
    )


def _bindings(state: ClusterState, members: Members, attempt: Attempt) -> tuple[tuple[str, str], ...]:
    name_of = state.nodes.names.__getitem__
    found: list[tuple[str, str]] = []
    for part in attempt.placed:
        uids = members.pending[part.shape].uids[: part.total]
        found += zip(uids, map(name_of, part.slots.repeat(part.counts).tolist()), strict=True)
    return tuple(found)


def _leftovers(state: ClusterState, members: Members, attempt: Attempt) -> Iterator[tuple[str, str]]:
    for shape, waiting in members.pending.items():
        rest = waiting.uids[attempt.count(shape) :]
        if rest:
            message = sentence(state.nodes_total, attempt.trial.reasons(shape))
            yield from ((uid, message) for uid in rest)


def _unschedulable(state: ClusterState, members: Members, attempt: Attempt) -> Decision:
    failures = dict(_leftovers(state, members, attempt))
    message = next(iter(failures.values())) if members.is_lone else _group_message(state, members, attempt)
    for shape, waiting in members.pending.items():
        for uid in waiting.uids[: attempt.count(shape)]:
            failures[uid] = f"pod group is unschedulable, {message}"
    return Decision(
        members.key,
        "unschedulable",
        failures=tuple(failures.items()),
        condition_message=message,
        scheduled_so_far=members.satisfied,
        need=members.need,
    )


def _group_message(state: ClusterState, members: Members, attempt: Attempt) -> str:
    beside = f" beside {members.satisfied} already scheduled" if members.satisfied else ""
    key = members.group.topology_key if members.group else None
    inside = f" inside one {key} (best: {attempt.domain})" if key else ""
    short = next(shape for shape, waiting in members.pending.items() if attempt.count(shape) < len(waiting))
    reasons = sentence(
        state.nodes_total, attempt.trial.reasons(short), what_for=" for the rest" if attempt.total else ""
    )
    doubt = "" if attempt.proven else " A placement may exist that was not found: the pods differ in what they need."
    return (
        f"minCount ({members.need}) cannot be satisfied: {attempt.total} of {members.pending_count} pods "
        f"can be placed{beside}{inside}; {reasons}{doubt}"
    )


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
