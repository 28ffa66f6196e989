"""A cluster that is different for a moment: more nodes, healthy nodes, pods that are gone.

The state is a copy that nobody else uses. What happened in it is taken back at the end, so that it decides as before.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from api.meta import Metadata
from api.node import Node, NodeSpec, NodeStatus
from explain.device_changes import with_slices_like, without_claims_of
from explain.relaxations import CONDITION_TAINTS
from scheduler.cache.cluster import ClusterState
from scheduler.cache.nodes import NodeFacts
from scheduler.cache.records import PodRecord

HOSTNAME: Final = "kubernetes.io/hostname"
MADE_UP: Final = "made-up"
"""How the names of nodes begin that do not exist."""


def node_like(facts: NodeFacts, name: str) -> Node:
    """A new, empty, healthy node with what this one has; its taints are kept as far as they do not tell of its state."""
    labels = {**facts.labels, HOSTNAME: name} if HOSTNAME in facts.labels else dict(facts.labels)
    return _node(facts, name, f"uid-of-{name}", labels)


def healthy(facts: NodeFacts) -> Node:
    """The node as it will be when it is uncordoned and well."""
    return _node(facts, facts.name, facts.uid, facts.labels)


def _node(facts: NodeFacts, name: str, uid: str, labels: dict[str, str]) -> Node:
    taints = tuple(taint for taint in facts.taints if not taint.key.startswith(CONDITION_TAINTS))
    return Node(
        metadata=Metadata(name=name, uid=uid, labels=labels),
        spec=NodeSpec(taints=taints),
        status=NodeStatus(allocatable=facts.allocatable, declared_features=tuple(sorted(facts.features))),
    )


def is_healthy(facts: NodeFacts) -> bool:
    """Whether pods could be bound to it, its own taints apart."""
    return not facts.unschedulable and not any(taint.key.startswith(CONDITION_TAINTS) for taint in facts.taints)


def nodes_like(facts: NodeFacts, count: int) -> list[Node]:
    """So many new nodes like this one."""
    return [node_like(facts, f"{MADE_UP}-{facts.name}-{number}") for number in range(count)]


@contextlib.contextmanager
def with_nodes_like(state: ClusterState, facts: NodeFacts, count: int) -> Iterator[None]:
    """So many new nodes like this one are there, with devices as it has them."""
    nodes = nodes_like(facts, count)
    names = [node.metadata.name for node in nodes]
    with with_nodes(state, nodes), with_slices_like(state.devices, facts.name, names):
        yield


@contextlib.contextmanager
def with_nodes(state: ClusterState, nodes: Iterable[Node]) -> Iterator[None]:
    """These nodes are there, beside the others or in the place of those of the same name."""
    before = {node.metadata.name: _facts(state, node.metadata.name) for node in nodes}
    for node in nodes:
        state.upsert_node(node)
    try:
        yield
    finally:
        for name, facts in reversed(before.items()):
            if facts is None:
                state.remove_node(name)
            else:
                state.upsert_node(_as_it_was(facts))


def _facts(state: ClusterState, name: str) -> NodeFacts | None:
    slot = state.nodes.slot_of.get(name)
    return None if slot is None else state.nodes.facts[slot]


def _as_it_was(facts: NodeFacts) -> Node:
    return Node(
        metadata=Metadata(name=facts.name, uid=facts.uid, labels=facts.labels),
        spec=NodeSpec(unschedulable=facts.unschedulable, taints=facts.taints),
        status=NodeStatus(allocatable=facts.allocatable, declared_features=tuple(sorted(facts.features))),
    )


@contextlib.contextmanager
def without_pods(state: ClusterState, pods: Sequence[PodRecord]) -> Iterator[None]:
    """These pods are gone, and nobody uses the devices that only they used."""
    with without_claims_of(state.devices, pods):
        for pod in pods:
            state.remove_pod(pod.namespace, pod.name, pod.uid)
        try:
            yield
        finally:
            for pod in pods:
                state.upsert_pod(pod)


@contextlib.contextmanager
def with_pods(state: ClusterState, pods: Sequence[PodRecord]) -> Iterator[None]:
    """These pods, which are known, look like this."""
    before = [found for pod in pods if (found := state.pod(pod.uid)) is not None]
    for pod in pods:
        state.upsert_pod(pod)
    try:
        yield
    finally:
        for pod in before:
            state.upsert_pod(pod)


def ungated(pods: Iterable[PodRecord]) -> list[PodRecord]:
    """The same pods without scheduling gates."""
    return [msgspec.structs.replace(pod, gated=False) for pod in pods]
