"""Hints that change the item: what its owner can do."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from api.requests import CPU, PODS, format_amount
from api.topology import ANYWHERE
from explain.hint import Hint, HintKind
from explain.item_change import Change, demand_with, rules_with
from explain.reasons import Reason
from explain.relaxations import (
    CONDITION_TAINTS,
    Relaxation,
    preferring_spread,
    without_pod_terms,
    without_ports,
    without_topology,
)
from explain.trials import Trials, greatest_that_starts
from scheduler.algorithm.decision import Decision
from scheduler.cache.demand import Demand
from scheduler.cache.node_rules import NodeRules, NodeTerm, Toleration
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import GroupRecord
from scheduler.cache.selectors import FIELD_PREFIX, Requirement
from scheduler.plugins.status import PodGroupDiagnosis
from scheduler.plugins.taint_toleration import tolerated

LEAST_SHARE: Final = 0.5
"""A hint never asks for less than this part of what was asked for."""
MOST_TAINTS: Final = 8
MOST_VALUES: Final = 3
"""Named in a message."""
_COUNTED: Final = frozenset({"Pod", "JobSet"})
"""Owners whose groups need all of their pods: a replica's leader, and a JobSet, whose size is its minimum."""
_MEBI: Final = 2**20
_GIBI: Final = 2**30


def rule_hints(trials: Trials, reasons: frozenset[Reason]) -> Iterator[Hint]:
    """Rules that the item could do without."""
    if Reason.TOPOLOGY in reasons:
        yield from _topology(trials)
    if Reason.NODE_AFFINITY in reasons:
        yield from _node_affinity(trials)
    if Reason.TAINTS in reasons:
        yield from _tolerations(trials)
    if Reason.SPREAD in reasons and trials.starts(Change(rules=preferring_spread)):
        yield Hint(
            HintKind.PREFER_SPREAD,
            "make its topology spread constraints preferences (whenUnsatisfiable: ScheduleAnyway)",
        )
    if Reason.POD_AFFINITY in reasons and trials.starts(Change(rules=without_pod_terms)):
        yield Hint(HintKind.REMOVE_POD_AFFINITY, "remove its required pod affinity and anti-affinity, or prefer it")
    if Reason.PORTS in reasons and trials.starts(Change(demand=without_ports)):
        yield Hint(HintKind.REMOVE_PORTS, "remove its host ports")


def _topology(trials: Trials) -> Iterator[Hint]:
    members = trials.members
    if isinstance(members, TreeState) and members.is_constrained_below:
        return  # there is not one constraint that could be named
    asked = members.group.topology if members is not None and members.group is not None else ANYWHERE
    decision = trials.decide(Change(group=without_topology))
    key = asked.required_key or asked.slice_key
    if key and decision.result == "scheduled":
        message = f"remove the topology constraint {key}: {_where(trials, key, decision)}"
        yield Hint(HintKind.REMOVE_TOPOLOGY, message, key=key)


def _node_affinity(trials: Trials) -> Iterator[Hint]:
    members = trials.members
    rules = {signature.rules: None for signature in members.pending} if members is not None else {}
    keys = dict.fromkeys(one.key for each in rules for one in (*each.selector, *_required(each)))
    for key in keys:
        decision = trials.decide(Change(rules=partial(_not_bound_to, key=key)))
        if decision.result == "scheduled":
            name = key.removeprefix(FIELD_PREFIX)
            message = f"do not ask for {name}: {_where(trials, key, decision)}"
            yield Hint(HintKind.REMOVE_NODE_SELECTOR, message, key=name)
    if len(keys) != 1 and trials.starts(Change(rules=_unbound)):
        yield Hint(HintKind.REMOVE_NODE_AFFINITY, "remove its node selector and required node affinity")


def _required(rules: NodeRules) -> Iterator[Requirement]:
    for term in rules.terms or ():
        yield from term


def _not_bound_to(rules: NodeRules, key: str) -> NodeRules:
    return rules_with(
        rules,
        selector=tuple(one for one in rules.selector if one.key != key),
        terms=None if rules.terms is None else _terms_without(rules.terms, key),
    )


def _terms_without(terms: tuple[NodeTerm, ...], key: str) -> tuple[NodeTerm, ...] | None:
    """The terms without a key; a term that asked for nothing else would be met by every node, so nothing is required then."""
    left = tuple(tuple(one for one in term if one.key != key) for term in terms)
    return None if any(term and not rest for term, rest in zip(terms, left, strict=True)) else left


def _unbound(rules: NodeRules) -> NodeRules:
    return rules_with(rules, selector=(), terms=None)


def _where(trials: Trials, key: str, decision: Decision) -> str:
    nodes = trials.state.nodes
    facts = (nodes.facts[nodes.slot_of[name]] for _, name in decision.bindings)
    values = sorted({known.label(key) or "a node without it" for known in facts if known is not None})
    shown = ", ".join(values[:MOST_VALUES]) + (" and others" if len(values) > MOST_VALUES else "")
    return f"there is room in {shown}"


def _tolerations(trials: Trials) -> Iterator[Hint]:
    members, column = trials.members, trials.state.nodes.taints
    rules = {signature.rules: None for signature in members.pending} if members is not None else {}
    found = {taint: None for known in column.values for taint in known if not taint.key.startswith(CONDITION_TAINTS)}
    untolerated = [taint for taint in found if not all(tolerated(taint, one.tolerations) for one in rules)]
    for taint in sorted(untolerated, key=lambda one: (one.key, one.value, one.effect))[:MOST_TAINTS]:
        toleration = Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
        if trials.starts(Change(rules=partial(_tolerating, toleration=toleration))):
            shown = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
            yield Hint(
                HintKind.TOLERATE,
                f"tolerate the taint {shown}",
                key=taint.key,
                value=taint.value,
                effect=taint.effect,
            )


def _tolerating(rules: NodeRules, toleration: Toleration) -> NodeRules:
    return rules_with(rules, tolerations=(*rules.tolerations, toleration))


# --- amounts ----------------------------------------------------------------------------------------------------------


def request_hints(trials: Trials, reasons: tuple[Relaxation, ...]) -> Iterator[Hint]:
    """Smaller requests that fit, for each resource of which less would be enough."""
    for one in reasons:
        if one.reason is Reason.ROOM and one.resource != PODS:
            yield from _request(trials, one.resource)


def _request(trials: Trials, resource: str) -> Iterator[Hint]:
    members = trials.members
    amounts = [signature.demand.amounts.get(resource, 0) for signature in members.pending] if members else []
    asked = max(amounts, default=0)
    amount = greatest_that_starts(
        _amounts_below(resource, asked), lambda most: trials.starts(Change(demand=partial(_at_most, resource, most)))
    )
    if amount is not None:
        less, more = format_amount(resource, amount), format_amount(resource, asked)
        yield Hint(
            HintKind.LOWER_REQUEST, f"`{resource}: {less}` instead of {more} fits", resource=resource, amount=less
        )


def _amounts_below(resource: str, asked: int) -> range:
    """What people would write that is less, ascending."""
    step = _step(resource, asked)
    return range(max(math.ceil(asked * LEAST_SHARE / step), 1) * step, asked, step)


def _step(resource: str, asked: int) -> int:
    if resource == CPU:
        return next(step for bound, step in ((1000, 100), (100, 10), (0, 1)) if asked >= bound)
    if resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-"):
        bounds = ((16 * _GIBI, _GIBI), (_GIBI, 64 * _MEBI), (16 * _MEBI, _MEBI), (0, 1024))
        return next(step for bound, step in bounds if asked >= bound)
    return 1


def _at_most(resource: str, most: int, demand: Demand) -> Demand:
    asked = demand.amounts.get(resource, 0)
    return demand if asked <= most else demand_with(demand, {**demand.amounts, resource: most})


def min_count_hints(trials: Trials, decision: Decision, least_share: float = LEAST_SHARE) -> Iterator[Hint]:
    """A smaller minimum with which it starts; only for groups whose minimum is their owner's to choose."""
    members = trials.members
    group = members.group if members is not None else None
    if members is None or group is None or not group.is_gang or group.min_resources or group.owner.kind in _COUNTED:
        return
    if group.is_tree:  # its minimum is one of groups
        return
    found = decision.status.diagnosis
    known = members.counts().known
    count = members.scheduled_count + found.placed if isinstance(found, PodGroupDiagnosis) else known
    if not max(1, math.ceil(group.min_count * least_share)) <= count < group.min_count:
        return
    if trials.starts(Change(group=partial(_with_min_count, count=count))):
        yield Hint(HintKind.LOWER_MIN_COUNT, f"lower min-count from {group.min_count} to {count}", count=count)


def _with_min_count(group: GroupRecord, count: int) -> GroupRecord:
    return msgspec.structs.replace(group, min_count=count)
