"""Would it fit? Manifests are taken in as if they had been submitted and decided upon in order; nothing is created."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf
from typing import Final

import msgspec

from api.errors import ConfigurationError
from api.topology import ANYWHERE
from explain.answer import Answer
from explain.cluster_changes import nodes_like
from explain.device_changes import add_slices_like, release_claims_of
from explain.preempting import preempt, victim_names
from explain.submitted import Submission
from explain.submitted_items import Submitted
from explain.targets import queued_item
from explain.tree_groups import group_answers
from explain.trials import Trials
from explain.why import why
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.decided_claims import decided_claims
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import class_record
from scheduler.cache.records import EntityKey
from scheduler.cache.volume_records import claim_record
from scheduler.preemption.victims import Candidate

ZONE: Final = "topology.kubernetes.io/zone"


class NodeShare(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """So many pods on one node; `domain` is its value of the topology label, or its zone."""

    node: str
    pods: int
    domain: str = ""


class Fit(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whether one item would start.

    Attributes:
        name: KIND/NAME of the object in the file.
        namespace: of it.
        fits: whether it would start.
        nodes: where its pods go.
        evicts: what would leave for it.
        note: what else is to be said, such as warnings of admission.
        answer: why it would not.
    """

    name: str
    namespace: str
    fits: bool
    nodes: tuple[NodeShare, ...] = ()
    evicts: tuple[str, ...] = ()
    note: str = ""
    answer: Answer | None = None


class FitAnswer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The answer for a file; `ignored` are kinds in it that place nothing."""

    items: tuple[Fit, ...]
    ignored: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 all of it would start, 3 some of it waits, 4 some of it never starts with this cluster."""
        codes = [one.answer.exit_code if one.answer is not None else 3 for one in self.items if not one.fits]
        return max((code or 3 for code in codes), default=0)


def add_nodes(state: ClusterState, count: int, like: str) -> None:
    """Adds made-up nodes like one that there is.

    Raises:
        ConfigurationError: there is no node of that name.
    """
    slot = state.nodes.slot_of.get(like)
    facts = state.nodes.facts[slot] if slot is not None else None
    if facts is None:
        raise ConfigurationError(f"--like {like}: the cluster has no node of that name")
    nodes = nodes_like(facts, count)
    for node in nodes:
        state.upsert_node(node)
    add_slices_like(state.devices, like, [node.metadata.name for node in nodes])


def fit(state: ClusterState, submission: Submission, now_seconds: float, *, evicts: bool = False) -> FitAnswer:
    """Whether what was submitted would start, one item after the other, each seeing the earlier ones.

    Args:
        state: a copy of the cluster that nobody else uses; what starts is in it afterwards.
        submission: what was submitted.
        now_seconds: since 1970.
        evicts: whether others may be evicted.
    """
    for claim in submission.claims:
        record = claim_record(claim)
        state.storage.set_claim(record.key, record)
    for device_class in submission.device_classes:
        state.devices.set_class(device_class.metadata.name, class_record(device_class))
    for asked in submission.resource_claims:
        state.devices.set_claim(asked.metadata.key, state.devices.slim_claim(asked))
    items = tuple(_decide(state, item, now_seconds, evicts=evicts) for item in submission.items)
    return FitAnswer(items, submission.ignored)


def _decide(state: ClusterState, item: Submitted, now_seconds: float, *, evicts: bool) -> Fit:
    note = "; ".join(item.notes)
    no = Fit(item.name, item.namespace, fits=False, note=note)
    foreign = next((pod for pod in item.pods if pod.spec.scheduler_name not in state.scheduler_names), None)
    if foreign is not None:
        text = f"its pods name the scheduler {foreign.spec.scheduler_name or 'default-scheduler'}, which is not ours"
        return msgspec.structs.replace(no, note="; ".join((text, *item.notes)))
    key = _entered(state, item)
    if key is None:
        return msgspec.structs.replace(no, note="; ".join(("no PodGroup is below it", *item.notes)))
    trials = Trials(state, key)
    decision = trials.decide()
    names: tuple[str, ...] = ()
    if decision.result == "unschedulable" and evicts:
        names = _evicted(trials)
        decision = trials.decide() if names else decision
        state.nominator.withdraw(key)
    if decision.result != "scheduled":
        answer = why(state, key, now_seconds, preempts=evicts)
        return msgspec.structs.replace(no, answer=_named(answer, item))
    shares = tuple(_shares(state, key, decision))
    state.devices.assume(decided_claims(state, decision))
    for uid, node in decision.bindings:
        if state.pod(uid) is not None:
            state.assume(uid, node, inf)
    note = "; ".join(filter(None, (_left_out(trials, decision), note)))
    return Fit(item.name, item.namespace, fits=True, nodes=shares, evicts=names, note=note)


def _evicted(trials: Trials) -> tuple[str, ...]:
    """Who has left for the item, which has their room now; nobody where that does not help."""
    found, state = preempt(trials), trials.state
    if not isinstance(found, Candidate):
        return ()
    release_claims_of(state.devices, found.pods)
    for victim in found.pods:
        state.remove_pod(victim.namespace, victim.name, victim.uid)
    _nominate(state, found)
    return victim_names(found)


def _left_out(trials: Trials, decision: Decision) -> str:
    """Which groups of a tree do not start with it; empty when all do."""
    waiting = [one.name for one in group_answers(trials, decision) if not one.starts]
    return f"without podgroup/{', podgroup/'.join(waiting)}, for which it does not wait" if waiting else ""


def _nominate(state: ClusterState, found: Candidate) -> None:
    """The pods go where room was made for them, as they would in a cluster."""
    pods = ((state.pod(uid), node) for uid, node in found.places)
    places = {pod.uid: (node, pod.demand) for pod, node in pods if pod is not None}
    state.nominator.nominate(found.key, found.priority, places, frozenset(), inf)


def _named(answer: Answer, item: Submitted) -> Answer:
    return msgspec.structs.replace(answer, item=msgspec.structs.replace(answer.item, owner=item.name))


def _entered(state: ClusterState, item: Submitted) -> EntityKey | None:
    """Takes an item into the cluster; what is decided upon, None for a CompositePodGroup that has no groups."""
    for composite in item.composites:
        state.composites.upsert(composite)
    for group in item.groups:
        state.upsert_group(group)
    for pod in item.pods:
        state.upsert_pod(pod)
    for pod in item.pods:
        found = state.item_of(pod.metadata.uid)
        if found is not None:
            return queued_item(state, found)
    for group in item.groups:
        return queued_item(state, state.slim_group(group).item)
    forest = state.entities.forest
    below = (leaf for one in item.composites for leaf in forest.leaves_below(one.metadata.key))
    return next((tree.key for tree in forest.trees_of(below)), None)


def _shares(state: ClusterState, key: EntityKey, decision: Decision) -> Iterator[NodeShare]:
    group = state.group(key)
    topology = group.topology if group is not None else ANYWHERE
    label = topology.levels[-1].key if topology.levels else topology.slice_key or ZONE
    counts = Counter(node for _, node in decision.bindings)
    for node, pods in sorted(counts.items()):
        slot = state.nodes.slot_of.get(node)
        facts = state.nodes.facts[slot] if slot is not None else None
        yield NodeShare(node, pods, (facts.label(label) or "") if facts is not None else "")


def fit_lines(found: FitAnswer, answers: Sequence[str]) -> Iterator[str]:
    """The answer for people; `answers` are the screens of those that do not fit, in order."""
    screens = iter(answers)
    for one in found.items:
        if one.fits:
            after = f" after {', '.join(one.evicts)} left" if one.evicts else ""
            yield f"{one.name} in {one.namespace}: yes{after}, {sum(share.pods for share in one.nodes)} pods"
            domains: dict[str, list[NodeShare]] = {}
            for share in one.nodes:
                domains.setdefault(share.domain, []).append(share)
            for domain, shares in domains.items():
                shown = ", ".join(f"{share.node} ({share.pods})" for share in shares[:12])
                more = f" and {len(shares) - 12} more" if len(shares) > 12 else ""
                yield f"  {domain + ': ' if domain else ''}{shown}{more}"
        else:
            yield f"{one.name} in {one.namespace}: no"
            if one.answer is not None:
                yield from (f"  {line}" for line in next(screens).split("\n"))
        if one.note:
            yield f"  note      {one.note}"
    if found.ignored:
        yield f"not looked at, for it places nothing: {', '.join(found.ignored)}"
