"""The reasons that stand in the way as they are told: a sentence and counts by class of nodes."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.requests import PODS, format_amount
from explain.answer import ClassCount, Obstacle
from explain.device_room import claim_problems, device_room
from explain.node_classes import NodeClass, count_of_pods
from explain.reasons import Reason
from explain.relaxations import UNSCHEDULABLE_TAINT, Relaxation
from explain.trials import Trials
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.counts import UNLIMITED
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins import dynamic_resources, node_affinity, node_declared_features, taint_toleration
from scheduler.plugins.node_ports import nodes_in_conflict
from scheduler.plugins.node_resources_fit import refusal
from scheduler.plugins.status import Diagnosis, PodGroupDiagnosis

MOST_CLASSES: Final = 6
"""Classes of nodes that are told for one reason."""

MOST_PROBLEMS: Final = 3
"""Of claims, that are told."""

_SENTENCES: Final = {
    Reason.NO_NODES: "the cluster has no node",
    Reason.CORDONED: "nodes are unschedulable (cordoned)",
    Reason.TAINTS: "nodes have taints that its pods do not tolerate",
    Reason.NODE_AFFINITY: "its node selector or required node affinity",
    Reason.FEATURES: "nodes whose kubelet lacks a feature that its pods need",
    Reason.SPREAD: "its topology spread constraints",
    Reason.POD_AFFINITY: "required affinity or anti-affinity between its pods and others",
    Reason.VOLUMES: "its volume claims and disks",
    Reason.DEVICES: "devices for its resource claims",
    Reason.PORTS: "host ports that are taken",
    Reason.RESERVED: "room that is kept for others of the same or a higher priority",
}


def obstacles(trials: Trials, decision: Decision, found: Sequence[Relaxation]) -> tuple[Obstacle, ...]:
    """What is told of these reasons; `decision` is the refusal."""
    members = trials.members
    if members is None or not members.pending:
        return ()
    signature = _refused_signature(members, decision)
    return tuple(_obstacle(trials.state, members, signature, trials.classes, one, decision) for one in found)


def _refused_signature(members: PodGroupState, decision: Decision) -> PodSignature:
    """That of the first pod that found no place."""
    uid = next((uid for uid, status in decision.failures if status is not None), "")
    for signature, waiting in members.pending.items():
        if uid in waiting.uids:
            return signature
    return next(iter(members.pending))


def _obstacle(
    state: ClusterState,
    members: PodGroupState,
    signature: PodSignature,
    classes: Sequence[NodeClass],
    one: Relaxation,
    decision: Decision,
) -> Obstacle:
    if one.reason is Reason.ROOM:
        return _room(state, signature, classes, one.resource)
    if one.reason is Reason.DEVICES:
        return _devices(state, members, signature, classes, decision)
    if one.reason is Reason.CLAIMS:
        return Obstacle(Reason.CLAIMS, _of_claims(state, members))
    refuses = _JUDGES.get(one.reason)
    if one.reason is Reason.PORTS:
        refuses = None if state.nodes is None else _by_ports(state, signature)
    counts = _counts(state, signature.rules, classes, refuses) if refuses is not None else ()
    return Obstacle(one.reason, _sentence(members, one.reason, decision), nodes=counts)


def _sentence(members: PodGroupState, reason: Reason, decision: Decision) -> str:
    if reason is not Reason.TOPOLOGY or members.group is None:
        return _SENTENCES[reason] + _said_by_filters(reason, decision)
    found = decision.status.diagnosis
    told = found if isinstance(found, PodGroupDiagnosis) else None
    best = f" (best: {told.best_domain})" if told is not None and told.best_domain else ""
    wider = f", and one {told.wider_key} takes too few already" if told is not None and told.wider_key else ""
    asked = members.group.topology
    if isinstance(members, TreeState) and members.is_constrained_below:
        inside = f"all of it must be inside one {asked.required_key}, and " if asked.required_key is not None else ""
        return f"{inside}groups below it ask for a topology of their own"
    parts = (
        [f"all of it must be inside one {asked.required_key}{best}{wider}"] if asked.required_key is not None else []
    )
    if asked.slice_size:
        parts.append(f"each slice of {asked.slice_size} must be inside one {asked.slice_key}")
    return " and ".join(parts)


_FILTERS: Final = {
    Reason.SPREAD: ("PodTopologySpread",),
    Reason.POD_AFFINITY: ("InterPodAffinity",),
    Reason.DEVICES: (dynamic_resources.NAME,),
    Reason.VOLUMES: ("VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"),
}


def _said_by_filters(reason: Reason, decision: Decision) -> str:
    """What the filters of a reason say of how many nodes."""
    found = decision.status.diagnosis
    of_pod: Diagnosis | None = found.pod if isinstance(found, PodGroupDiagnosis) else found
    plugins = _FILTERS.get(reason, ())
    if of_pod is None or not plugins:
        return ""
    said = [f"{count} {one.text}" for one, count in of_pod.nodes.items() if one.plugin in plugins]
    if of_pod.pre_filter is not None and of_pod.pre_filter.plugin in plugins:
        said = [of_pod.pre_filter.text.format(*of_pod.pre_filter.args)]
    return f": {', '.join(sorted(said))}" if said else ""


def _room(state: ClusterState, signature: PodSignature, classes: Sequence[NodeClass], resource: str) -> Obstacle:
    nodes, asked = state.nodes, signature.demand.amounts.get(resource, 0)
    row = nodes.row_of.get(resource)
    counts = []
    for one in classes:
        if resource in nodes.backed and not one.model.offers(resource):
            continue  # devices decide there
        free = nodes.free[row, one.slots] if row is not None else np.zeros(len(one.slots), dtype=np.int64)
        offered = nodes.offered(one.slots)[row] if row is not None else free
        short = int(np.count_nonzero(free < asked))
        counts.append(
            ClassCount(
                one.name,
                len(one.slots),
                short,
                room_for=int((free.clip(min=0) // max(asked, 1)).sum()),
                most_free=format_amount(resource, max(int(free.max()), 0)),
                too_small=int(np.count_nonzero(offered < asked)),
            )
        )
    what = (
        refusal(resource).text
        if resource == PODS
        else f"{resource}: each pod asks for {format_amount(resource, asked)}"
    )
    return Obstacle(Reason.ROOM, what, resource, _most_important(counts))


def _devices(
    state: ClusterState,
    members: PodGroupState,
    signature: PodSignature,
    classes: Sequence[NodeClass],
    decision: Decision,
) -> Obstacle:
    asking = next((one for one in (signature, *members.pending) if asks_devices(state, one)), signature)
    room = device_room(state, members, asking)
    text = _SENTENCES[Reason.DEVICES] + _said_by_filters(Reason.DEVICES, decision)
    if room is None:
        return Obstacle(Reason.DEVICES, text)
    counts = [
        ClassCount(
            one.name,
            len(one.slots),
            refused=int(np.count_nonzero(room[one.slots] == 0)),
            room_for=min(int(room[one.slots].sum()), members.pending_count),
            too_small=len(one.slots) if one.device_room == 0 else 0,
        )
        for one in classes
        if one.device_room is None or one.device_room < UNLIMITED
    ]
    return Obstacle(Reason.DEVICES, text, nodes=_most_important(counts))


def _of_claims(state: ClusterState, members: PodGroupState) -> str:
    """The problems of claims, those of the most pods first."""
    problems = claim_problems(state, members).most_common()
    told = [f"{count_of_pods(count)}: {text}" for text, count in problems[:MOST_PROBLEMS]]
    more = f"; and {len(problems) - MOST_PROBLEMS} more" if len(problems) > MOST_PROBLEMS else ""
    return f"its resource claims: {'; '.join(told)}{more}"


Judge = Callable[[ClusterState, NodeRules, Slots], NDArray[np.bool_]]


def _counts(
    state: ClusterState, rules: NodeRules, classes: Sequence[NodeClass], refuses: Judge
) -> tuple[ClassCount, ...]:
    counts = (
        ClassCount(one.name, len(one.slots), int(np.count_nonzero(refuses(state, rules, one.slots)))) for one in classes
    )
    return _most_important([one for one in counts if one.refused])


def _most_important(counts: list[ClassCount]) -> tuple[ClassCount, ...]:
    return tuple(sorted(counts, key=lambda one: (-one.refused, one.nodes))[:MOST_CLASSES])


def _cordoned(state: ClusterState, _rules: NodeRules, slots: Slots) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = state.nodes.unschedulable[slots]
    return found


def _tainted(state: ClusterState, rules: NodeRules, slots: Slots) -> NDArray[np.bool_]:
    return state.nodes.taints.ask(
        lambda taints: (
            taint_toleration.untolerated((one for one in taints if one.key != UNSCHEDULABLE_TAINT), rules.tolerations)
            is not None
        ),
        slots,
    )


def _elsewhere(state: ClusterState, rules: NodeRules, slots: Slots) -> NDArray[np.bool_]:
    found = node_affinity.filter_nodes(rules, state.nodes, slots)
    return np.zeros(len(slots), dtype=np.bool_) if found is None else found.codes > 0


def _without_features(state: ClusterState, rules: NodeRules, slots: Slots) -> NDArray[np.bool_]:
    found = node_declared_features.filter_nodes(rules, state.nodes, slots)
    return np.zeros(len(slots), dtype=np.bool_) if found is None else found.codes > 0


def _by_ports(state: ClusterState, signature: PodSignature) -> Judge:
    def judge(_state: ClusterState, _rules: NodeRules, slots: Slots) -> NDArray[np.bool_]:
        return nodes_in_conflict(signature.demand.ports, state.nodes, state.ports, slots)

    return judge


_JUDGES: Final[dict[Reason, Judge]] = {
    Reason.CORDONED: _cordoned,
    Reason.TAINTS: _tainted,
    Reason.NODE_AFFINITY: _elsewhere,
    Reason.FEATURES: _without_features,
}
