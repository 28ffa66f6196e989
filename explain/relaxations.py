"""Reasons that can be lifted one by one: for each the change of the item without which it would not stand in the way.

Only what can matter to the item is offered: a pod without a node selector is not asked what it would do without one.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from api.requests import PODS
from api.topology import ANYWHERE
from explain.device_room import asks_devices, claim_problems
from explain.item_change import Change, demand_with, rules_with
from explain.reasons import Reason
from scheduler.algorithm.free_after_nominations import is_room_held_against
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.node_rules import NodeRules, Toleration
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_rules import AffinityTerms
from scheduler.cache.records import GroupRecord
from scheduler.plugins.taint_toleration import tolerated

UNSCHEDULABLE_TAINT: Final = "node.kubernetes.io/unschedulable"
"""What the node controller puts on cordoned nodes."""
CONDITION_TAINTS: Final = "node.kubernetes.io/"
"""How the keys of taints begin that say what a node's state is; nobody should tolerate these to get room."""


class Relaxation(msgspec.Struct, frozen=True):
    """A reason, and the item without it. `resource` is that of a reason about room."""

    reason: Reason
    change: Change
    resource: str = ""


def relaxations(state: ClusterState, members: PodGroupState) -> list[Relaxation]:
    """What can stand in the way of this item, in the order in which it is told."""
    return [*_about_nodes(state, members), *_about_pods(state, members), *_about_room(state, members)]


def _about_nodes(state: ClusterState, members: PodGroupState) -> Iterator[Relaxation]:
    rules = {signature.rules: None for signature in members.pending}
    taints = {taint for known in state.nodes.taints.values for taint in known}
    keys = {taint.key for taint in taints if not all(tolerated(taint, one.tolerations) for one in rules)}
    if state.nodes.unschedulable.any():
        yield Relaxation(Reason.CORDONED, Change(rules=partial(_tolerating, keys=(UNSCHEDULABLE_TAINT,))))
    others = tuple(sorted(keys - {UNSCHEDULABLE_TAINT}))
    if others:
        yield Relaxation(Reason.TAINTS, Change(rules=partial(_tolerating, keys=others)))
    if any(one.selector or one.terms is not None for one in rules):
        yield Relaxation(Reason.NODE_AFFINITY, Change(rules=_anywhere))
    if any(one.features for one in rules):
        yield Relaxation(Reason.FEATURES, Change(rules=_featureless))


def _about_pods(state: ClusterState, members: PodGroupState) -> Iterator[Relaxation]:
    rules = {signature.rules: None for signature in members.pending}
    topology = members.group.topology if members.group is not None else ANYWHERE
    is_inside = isinstance(members, TreeState) and members.is_constrained_below
    if topology.required_key is not None or topology.slice_size or is_inside:
        yield Relaxation(Reason.TOPOLOGY, Change(group=without_topology))
    if any(spread.is_hard for one in rules for spread in one.spread_constraints):
        yield Relaxation(Reason.SPREAD, Change(rules=preferring_spread))
    if state.topology_index.has_existing_terms(members.key.namespace) or any(
        one.affinity_terms is not None and (one.affinity_terms.required or one.affinity_terms.anti_affinity)
        for one in rules
    ):
        yield Relaxation(Reason.POD_AFFINITY, Change(rules=without_pod_terms, ignores_terms=True))
    if any(one.mounts for one in rules):
        yield Relaxation(Reason.VOLUMES, Change(ignores_volumes=True))
    if asks_devices(state, members):
        reason = Reason.CLAIMS if claim_problems(state, members) else Reason.DEVICES
        yield Relaxation(reason, Change(ignores_devices=True))


def _about_room(state: ClusterState, members: PodGroupState) -> Iterator[Relaxation]:
    demands = {signature.demand: None for signature in members.pending}
    if any(one.ports for one in demands):
        yield Relaxation(Reason.PORTS, Change(demand=without_ports))
    if is_room_held_against(state, members):
        yield Relaxation(Reason.RESERVED, Change(ignores_held=True))
    for resource in dict.fromkeys(name for one in demands for name in one.amounts if name != PODS):
        yield Relaxation(Reason.ROOM, Change(demand=partial(_without, resource=resource)), resource)
    yield Relaxation(Reason.ROOM, Change(ignores_pods=True), PODS)


# --- what a pod is without one of them --------------------------------------------------------------------------------


def _tolerating(rules: NodeRules, keys: tuple[str, ...]) -> NodeRules:
    more = tuple(Toleration(key=key, operator="Exists") for key in keys)
    return rules_with(rules, tolerations=(*rules.tolerations, *more))


def _anywhere(rules: NodeRules) -> NodeRules:
    return rules_with(rules, selector=(), terms=None)


def _featureless(rules: NodeRules) -> NodeRules:
    return rules_with(rules, features=frozenset())


def preferring_spread(rules: NodeRules) -> NodeRules:
    """The rules with spread constraints as preferences (ScheduleAnyway)."""
    soft = tuple(msgspec.structs.replace(one, is_hard=False) for one in rules.spread_constraints)
    return rules_with(rules, spread_constraints=soft)


def without_pod_terms(rules: NodeRules) -> NodeRules:
    """The rules without required terms about other pods."""
    if rules.affinity_terms is None:
        return rules
    preferred = rules.affinity_terms.preferred
    return rules_with(rules, affinity_terms=AffinityTerms(preferred) if preferred else None)


def without_topology(group: GroupRecord) -> GroupRecord:
    """The group that may be anywhere."""
    return msgspec.structs.replace(group, topology=ANYWHERE)


def without_ports(demand: Demand) -> Demand:
    """The demand without host ports."""
    return Demand(demand.amounts, (), demand.problem, demand.extended)


def _without(demand: Demand, resource: str) -> Demand:
    return demand_with(demand, {name: amount for name, amount in demand.amounts.items() if name != resource})
