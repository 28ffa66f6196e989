"""Pods that do not exist yet but must find room together with one that does.

Some members of a group are created only once another one runs: the workers of a LeaderWorkerSet replica whose leader must be
ready first. Were the leader placed alone, replicas would fill the cluster with leaders whose workers fit nowhere. So the group
says beforehand what its other pods will ask for (annotation `min-resources`), and as long as none of its pods has a place,
everything that decides about it sees those pods as if they were there: placement, topology, preemption, wake-ups. No record of
the cluster knows them.
"""

import sys
from collections import OrderedDict
from typing import Any, Final, cast

import msgspec

from api.meta import Metadata
from api.pod import Pod
from api.revision import LEADER, Role, pod_spec_of, read_roles
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members, Standing
from scheduler.state.records import GroupRecord, ItemKey, PodRecord

TO_COME: Final = "to-come/"
"""How the UID of a pod begins that does not exist; no API server makes such UIDs."""

MOST_TO_COME: Final = 10_000
"""Pods that one group may announce."""

_REMEMBERED: Final = 1024


class Foreseen:
    """The cluster with the pods that are to come: whatever is not said here is the cluster's own.

    Args:
        state: the cluster as it is.
        beside: also where pods of the group have their place already (after a restart, to find out what to keep).
    """

    def __init__(self, state: ClusterState, *, beside: bool = False) -> None:
        self._state: Final = state
        self._beside: Final = beside
        self._records: OrderedDict[str, tuple[PodRecord, ...]] = OrderedDict()
        self._by_uid: dict[str, PodRecord] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    @property
    def view(self) -> ClusterState:
        """Itself, for those who ask a cluster."""
        return cast("ClusterState", self)

    def item(self, key: ItemKey) -> Members | None:
        """The members behind a key, those that are to come included while none of them has a place."""
        members = self._state.item(key)
        if members is None or members.group is None or not members.group.min_resources:
            return members
        if bool(members.satisfied) is not self._beside or not (self._beside or members.pending):
            return members
        to_come = self.pods_to_come(members)
        return _together(members, members.group, to_come) if to_come else members

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod, or one that is to come."""
        return self._by_uid.get(uid) if is_to_come(uid) else self._state.pod(uid)

    def pods_to_come(self, members: Members) -> tuple[PodRecord, ...]:
        """The announced pods of a group that are not there yet."""
        group, model = members.group, next(members.pods(Standing.PENDING, Standing.ASSUMED, Standing.BOUND), None)
        if group is None or model is None:
            return ()
        announced = self._announced(group, model)
        there = members.counts().known - 1
        return announced[max(there, 0) :]

    def _announced(self, group: GroupRecord, model: PodRecord) -> tuple[PodRecord, ...]:
        known = self._records.get(group.uid)
        if known is None:
            known = self._records[group.uid] = tuple(self._slim(group, model))
            self._by_uid.update({record.uid: record for record in known})
            while len(self._records) > _REMEMBERED:
                _, forgotten = self._records.popitem(last=False)
                for record in forgotten:
                    self._by_uid.pop(record.uid, None)
        self._records.move_to_end(group.uid)
        return known

    def _slim(self, group: GroupRecord, model: PodRecord) -> list[PodRecord]:
        pods: list[PodRecord] = []
        for role in read_roles(group.min_resources):
            if role.role == LEADER or not 0 < role.count <= MOST_TO_COME - len(pods):
                continue
            try:
                one = self._state.slim_pod(_pod_of(role, group, model))
            except (msgspec.MsgspecError, ValueError):
                # Written by somebody else than us; what cannot be read announces nothing.
                continue
            for number in range(len(pods) + 1, len(pods) + role.count + 1):
                uid = sys.intern(f"{TO_COME}{group.uid}/{number}")
                name = f"{group.owner.name or group.name}-{number}"
                pods.append(msgspec.structs.replace(one, uid=uid, name=name, owner=group.owner))
        return pods


def is_to_come(pod_uid: str) -> bool:
    """Whether this is the UID of a pod that does not exist yet."""
    return pod_uid.startswith(TO_COME)


def _pod_of(role: Role, group: GroupRecord, model: PodRecord) -> Pod:
    profile = model.profile
    spec = msgspec.structs.replace(
        pod_spec_of(role),
        scheduler_name=profile.scheduler_name,
        priority=profile.priority,
        preemption_policy=profile.preemption_policy,
    )
    return Pod(metadata=Metadata(namespace=group.namespace, labels=role.labels), spec=spec)


def _together(members: Members, group: GroupRecord, to_come: tuple[PodRecord, ...]) -> Members:
    """A copy of the members with the pods to come among them; all of them must get a place."""
    both = members.copy()
    both.set_group(msgspec.structs.replace(group, need=group.need + len(to_come)), members.key)
    for pod in to_come:
        both.put(pod)
    return both
