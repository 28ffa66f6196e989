"""Upper bounds: how many of some pods no placement can exceed, whatever the order, rules about other pods included.

What only ever gets worse while pods are placed is counted (anti-affinity, missing labels), and everything that no member
changes. What another member may make possible (affinity to it, a spread that evens out) is not.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.heterogeneous import HeterogeneousMembers, are_heterogeneous
from scheduler.algorithm.identical import PodsByNode
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.topology import TopologyGroup
from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_signature import PodsBySignature, PodSignature

_SCANS_OF_A_CEILING: Final = 15


def most_pods_by_node(snapshot: SnapshotOverlay, signature: PodSignature) -> PodsByNode:
    """Per node slot, on a snapshot without tentative pods."""
    room = snapshot.room(signature)
    state = snapshot.topology_state
    if state is None:
        return room
    snapshot.spend(_SCANS_OF_A_CEILING)
    room = room.copy()
    refused = state.permanently_filtered(signature)
    if refused is not None:
        room[state.slots[refused]] = 0
    for group in state.topology.self_repelling(signature):
        np.minimum(room, 1, out=room, where=group.codes != 0)
    return room


def most_pods(snapshot: SnapshotOverlay, signature: PodSignature, count: int) -> int:
    """In total, of so many pods."""
    room = most_pods_by_node(snapshot, signature)
    most = min(count, int(room.sum()))
    state = snapshot.topology_state
    if state is None:
        return most
    for group in state.topology.self_repelling(signature):
        most = min(most, _one_each(group, room))
    if state.topology.is_self_gathering(signature):
        for at in filter(state.topology.is_gathered, state.topology.prefilter_states[signature].affinity):
            most = min(most, int(by_value(state.topology.groups[at], room).max()))
    return most


def by_value(group: TopologyGroup, room: PodsByNode) -> PodsByNode:
    """The room inside each value of a group's label; nothing for nodes without it."""
    sums = np.bincount(group.codes, weights=room, minlength=len(group.counts)).astype(np.int64)
    sums[0] = 0
    return sums


def _one_each(group: TopologyGroup, room: PodsByNode) -> int:
    unlabelled = int(room[group.codes == 0].sum())
    return unlabelled + int(np.count_nonzero(by_value(group, room)))


def most(pending: PodsBySignature, snapshot: SnapshotOverlay) -> int:
    """No placement puts more members than this on nodes: each signature as if it were alone."""
    if are_heterogeneous(snapshot, pending):
        room, _ = HeterogeneousMembers(snapshot, list(pending)).room()
        return sum(map(min, pending.values(), room))
    # Rules about other pods, volumes and devices are known of each signature by itself, not of its base.
    alike = by_base(pending) if snapshot.topology_state is None else pending
    return sum(most_pods(snapshot, signature, count) for signature, count in alike.items())


def by_base(pending: PodsBySignature) -> dict[PodSignature, int]:
    """The same pods by what decides where they fit."""
    found: dict[PodSignature, int] = {}
    for signature, count in pending.items():
        found[signature.base] = found.get(signature.base, 0) + count
    return found


def most_in_domain(
    key: str, pinned: str | None, pending: PodsBySignature, nodes: NodeTable, empty: SnapshotOverlay
) -> NDArray[np.int64]:
    """No placement inside a domain puts more members on nodes than this; by code of the label's value, -1 where none may be.

    Args:
        key: the node label whose values are the domains.
        pinned: the only value that may be used, None for all.
        pending: members to place, by signature.
        nodes: the node table.
        empty: a snapshot of all nodes without tentative pods.
    """
    column = nodes.label_column(key)
    most = np.zeros(len(column.values), dtype=np.int64)
    for signature, count in pending.items():
        room = np.bincount(column.codes, weights=most_pods_by_node(empty, signature), minlength=len(most))
        most += np.minimum(room, count).astype(np.int64)
    most[0] = -1
    if pinned is not None:
        most[[value != pinned for value in column.values]] = -1
    return most
