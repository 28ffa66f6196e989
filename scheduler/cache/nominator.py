"""Nominations: the nodes that pods are nominated to after a preemption, with the room that is held for them there.

Room is held against everybody of lower or equal priority, never against higher ones, who overtake the nomination by taking it. A
nomination ends when its pods have their nodes, when it turns out not to be possible any more, or when its item is gone. Pods of
other schedulers that are nominated to a node (`status.nominatedNodeName`) count there in the same way.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from scheduler.cache.demand import Demand
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.records import EntityKey, PodRecord


class Nomination:
    """The nodes that the pods of one item are nominated to, and the pods that leave so that there is room.

    Args:
        key: the item.
        priority: that of the item.
        places: pod UID -> (node name, demand); a pod that is bound or assumed leaves this table.
        victims: UIDs of the pods that leave for it.
        deadline_seconds: when it ends at the latest, in monotonic seconds.
        devices: pod UID -> the devices that are kept for it; a pod that is bound or assumed leaves this table, too.
    """

    __slots__ = (
        "deadline_seconds",
        "devices",
        "evicted",
        "has_started",
        "is_overtaken",
        "key",
        "places",
        "priority",
        "victims",
    )

    def __init__(
        self,
        key: EntityKey,
        priority: int,
        places: dict[str, tuple[str, Demand]],
        victims: frozenset[str],
        deadline_seconds: float,
        devices: Mapping[str, tuple[HeldDevice, ...]] | None = None,
    ) -> None:
        self.key: Final = key
        self.priority: Final = priority
        self.places: Final = places
        self.victims: Final = victims
        self.deadline_seconds = deadline_seconds
        self.devices: Final = dict(devices or {})
        self.has_started = False
        """A pod of it got a place, so what left for it did not leave in vain."""
        self.is_overtaken = False
        """Somebody more important took room of it, so what left did not leave in vain either."""
        self.evicted = 0
        """Deletes that were carried out for it."""


class Nominator:
    """All nominations, at most one per item."""

    def __init__(self) -> None:
        self._nominations: dict[EntityKey, Nomination] = {}
        self._of_pod: dict[str, Nomination] = {}
        self._on_node: dict[str, dict[str, Nomination]] = {}
        self._priorities: Counter[int] = Counter()
        self._followers: list[set[str]] = []

    def __len__(self) -> int:
        return len(self._nominations)

    def __iter__(self) -> Iterator[Nomination]:
        return iter(list(self._nominations.values()))

    def nominate(
        self,
        key: EntityKey,
        priority: int,
        places: dict[str, tuple[str, Demand]],
        victims: frozenset[str],
        deadline_seconds: float,
        devices: Mapping[str, tuple[HeldDevice, ...]] | None = None,
    ) -> Nomination:
        """Nominates pods to nodes instead of what the item was nominated to before; arguments as of `Nomination`."""
        self.withdraw(key)
        nomination = Nomination(key, priority, places, victims, deadline_seconds, devices)
        self.restore(nomination)
        return nomination

    def of(self, key: EntityKey) -> Nomination | None:
        """The nomination of an item."""
        return self._nominations.get(key)

    def restore(self, nomination: Nomination) -> None:
        """Takes a nomination up again that was withdrawn."""
        self.withdraw(nomination.key)
        self._nominations[nomination.key] = nomination
        self._priorities[nomination.priority] += 1
        for pod_uid, (node, _) in nomination.places.items():
            self._of_pod[pod_uid] = nomination
            self._on_node.setdefault(node, {})[pod_uid] = nomination
            self._note(node)

    def replace_all(self, nominations: Iterable[Nomination]) -> None:
        """Takes up exactly these, in this order."""
        for key in list(self._nominations):
            self.withdraw(key)
        for nomination in nominations:
            self.restore(nomination)

    def withdraw(self, key: EntityKey) -> Nomination | None:
        """Gives the places of an item up; returns what was given up."""
        nomination = self._nominations.pop(key, None)
        if nomination is not None:
            self._priorities -= Counter([nomination.priority])
            for pod_uid, (node, _) in nomination.places.items():
                self._forget(pod_uid, node)
        return nomination

    def delete_pod(self, pod_uid: str, *, has_place: bool = False) -> None:
        """A pod has its place, or is gone: no room is held for it."""
        nomination = self._of_pod.get(pod_uid)
        if nomination is not None:
            self._forget(pod_uid, nomination.places.pop(pod_uid)[0])
            nomination.devices.pop(pod_uid, None)
            nomination.has_started |= has_place

    def overtake(self, nodes: Collection[str], priority: int) -> None:
        """Somebody of this priority got places on these nodes."""
        for node in nodes if self._nominations else ():
            for nomination in self._on_node.get(node, {}).values():
                nomination.is_overtaken |= nomination.priority < priority

    def held_against(self, key: EntityKey, priority: int) -> dict[str, Counter[Demand]]:
        """What is held on which node against an item of that priority."""
        held: dict[str, Counter[Demand]] = {}
        for nomination in self._nominations.values():
            if nomination.key == key or nomination.priority < priority:
                continue
            for node, demand in nomination.places.values():
                held.setdefault(node, Counter())[demand] += 1
        return held

    def devices_against(self, key: EntityKey, priority: int) -> Iterator[HeldDevice]:
        """The devices that are kept against an item of that priority; some of them others may still have."""
        for nomination in self._nominations.values():
            if nomination.devices and nomination.key != key and nomination.priority >= priority:
                for kept in nomination.devices.values():
                    yield from kept

    def is_held_against(self, key: EntityKey, priority: int) -> bool:
        """Whether room is held for anybody else that an item of that priority must leave alone."""
        if not self._nominations:
            return False
        own = self._nominations.get(key)
        own_priority = None if own is None else own.priority
        return any(level >= priority and count > (level == own_priority) for level, count in self._priorities.items())

    def held_on(self, node: str, priority: int) -> Iterator[Demand]:
        """What is held on a node against items of that priority which are nominated nowhere, pod by pod."""
        for pod_uid, nomination in self._on_node.get(node, {}).items():
            if nomination.priority >= priority:
                yield nomination.places[pod_uid][1]

    @property
    def nodes(self) -> Collection[str]:
        """The nodes on which something is held."""
        return self._on_node.keys()

    def follow(self) -> set[str]:
        """A set to which the name of every node is added on which more or less is held from now on."""
        changed: set[str] = set()
        self._followers.append(changed)
        return changed

    def unfollow(self, changed: set[str]) -> None:
        """Ends a `follow`."""
        self._followers = [other for other in self._followers if other is not changed]

    def _forget(self, pod_uid: str, node: str) -> None:
        del self._of_pod[pod_uid]
        pods = self._on_node[node]
        del pods[pod_uid]
        if not pods:
            del self._on_node[node]
        self._note(node)

    def _note(self, node: str) -> None:
        for changed in self._followers:
            changed.add(node)

    def victims(self) -> frozenset[str]:
        """Everybody who leaves for somebody."""
        return frozenset().union(*(nomination.victims for nomination in self._nominations.values()))


class ForeignNominations:
    """Keeps a nomination for every waiting pod of another scheduler that is nominated to a node."""

    def __init__(self, nominator: Nominator, scheduler_names: frozenset[str]) -> None:
        self._nominator: Final = nominator
        self._scheduler_names: Final = scheduler_names

    def moved(self, old: PodRecord | None, new: PodRecord | None) -> str:
        """A pod came, changed or went; the node on which nothing is held for it any more, empty when there is none."""
        before, after = self._node_of(old), self._node_of(new)
        if before == after and (not after or (old and new and old.demand is new.demand)):
            return ""
        pod = new or old
        if pod is None:
            return ""
        key = EntityKey("pod", pod.namespace, pod.name, pod.uid)
        if after:
            self._nominator.nominate(key, pod.profile.priority, {pod.uid: (after, pod.demand)}, frozenset(), math.inf)
        else:
            self._nominator.withdraw(key)
        return before

    def _node_of(self, pod: PodRecord | None) -> str:
        if pod is None or not pod.nominated_node or pod.is_bound or pod.is_terminal or pod.terminating:
            return ""
        return "" if pod.profile.scheduler_name in self._scheduler_names else pod.nominated_node
