"""What a predecessor was about to do: read from the nominations of pods, and from groups that are asked to leave.

Nominations are written before the first victim is asked, so whoever is nominated may have room cleared for it. Those that cannot
be meant any more (the node is gone, the item is held) are named to be cleared, as after a refusal (KEP-4671).
"""

from collections.abc import Collection, Iterator

import msgspec

from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import queued_item
from scheduler.cache.records import EntityKey, PodRecord
from scheduler.plugins.gang_scheduling import pre_enqueue


class NominatedItem(msgspec.Struct, frozen=True):
    """An item whose waiting pods are nominated: where, and who leaves for them as far as that can be seen."""

    key: EntityKey
    priority: int
    pods: tuple[PodRecord, ...]
    """All pods of it that are nominated."""
    places: dict[str, tuple[str, Demand]]
    """Pod UID -> (node name, demand), of those whose nomination may still be meant."""
    victims: frozenset[str]

    @property
    def stale(self) -> tuple[PodRecord, ...]:
        """Pods of it that are nominated for nothing."""
        return tuple(pod for pod in self.pods if pod.uid not in self.places)


def nominated_items(state: ClusterState) -> Iterator[NominatedItem]:
    """All items of which a waiting pod is nominated."""
    asked = _asked_by_preemptor(state)
    for members in _items(state):
        key = members.key
        pods = _nominated_pods(members)
        if not pods:
            continue
        may_start = pre_enqueue(members) is None
        meant = [pod for pod in pods if may_start and state.node_uid(pod.nominated_node) is not None]
        places = {pod.uid: (pod.nominated_node, pod.demand) for pod in meant}
        nodes = {node for node, _ in places.values()}
        victims = frozenset((*_leaving(state, nodes, members.priority), *asked.get(key.uid, ())))
        yield NominatedItem(key, members.priority, pods, places, victims)


def _items(state: ClusterState) -> list[PodGroupState]:
    """All that are scheduled by themselves: trees in the place of their groups."""
    found: dict[EntityKey, PodGroupState] = {}
    for key in state.entities:
        members = state.entities.get(key)
        item = state.entities.get(queued_item(members)) if members is not None else None
        if item is not None:
            found[item.key] = item
    return list(found.values())


def _nominated_pods(members: PodGroupState) -> tuple[PodRecord, ...]:
    waiting = members.pods(MemberState.PENDING, MemberState.GATED, MemberState.BARRED)
    return tuple(pod for pod in waiting if pod.nominated_node and not pod.is_bound)


def _leaving(state: ClusterState, nodes: Collection[str], priority: int) -> Iterator[str]:
    assigned_pods = state.assigned_pods
    for row in assigned_pods.terminating().tolist():
        pod = assigned_pods.pods[row]
        if pod is not None and pod.node_name in nodes and assigned_pods.priorities[row] < priority:
            yield pod.uid


def _asked_by_preemptor(state: ClusterState) -> dict[str, set[str]]:
    """UID of a preemptor -> UIDs of the pods of groups that are asked to leave for it."""
    found: dict[str, set[str]] = {}
    for key in state.entities:
        members = state.entities.get(key)
        if members is not None and members.group is not None and members.group.preempted_by:
            pods = found.setdefault(members.group.preempted_by, set())
            pods.update(pod.uid for pod in members.pods() if pod.is_bound and not pod.is_terminal)
    return found
