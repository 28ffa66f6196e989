"""What the controller knows of the cluster: LeaderWorkerSets and all that carries their label, found by owners' UIDs."""

import random as randomness
from collections.abc import Callable
from typing import Any, Final

from api.constants import LEADER_INDEX, LWS_GROUP_INDEX, LWS_NAME, LWS_WORKER_INDEX
from api.meta import Metadata, controller_of
from kube.cache.decoding import ListDecoder, ObjectHead
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.resources import CONTROLLER_REVISIONS, LEADER_WORKER_SETS, PODS, SERVICES, STATEFUL_SETS
from localcluster.controllers.documents import Document, Whole, WholeDecoder
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet
from localcluster.controllers.leaderworkersets.revisions import key_of
from localcluster.controllers.leaderworkersets.rollout import GroupState
from localcluster.controllers.leaderworkersets.status import Group
from localcluster.controllers.statefulsets.model import Revision, StatefulSet

_OWNER: Final = "owner"


class View:
    """Five informers and the questions that are asked of them."""

    def __init__(self, client: Client, *, clock: Callable[[], float], random: randomness.Random) -> None:
        def informer(resource: Any, decoder: Any, selector: str | None = LWS_NAME) -> Any:
            return Informer(
                client,
                resource,
                decoder,
                label_selector=selector,
                indexers={_OWNER: lambda each: (owner_uid(each.metadata),)},
                clock=clock,
                random=random,
            )

        self.lws: Informer[Whole[LeaderWorkerSet]] = informer(
            LEADER_WORKER_SETS, WholeDecoder(LeaderWorkerSet), selector=None
        )
        self.sets: Informer[Whole[StatefulSet]] = informer(STATEFUL_SETS, WholeDecoder(StatefulSet))
        self.pods: Informer[Whole[Pod]] = informer(PODS, WholeDecoder(Pod))
        self.revisions: Informer[Whole[Revision]] = informer(CONTROLLER_REVISIONS, WholeDecoder(Revision))
        self.services: Informer[ObjectHead] = informer(SERVICES, ListDecoder(ObjectHead))

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        """All that is followed."""
        return (self.lws, self.sets, self.pods, self.revisions, self.services)

    def history(self, lws: Whole[LeaderWorkerSet]) -> list[Document]:
        """The revisions of a LeaderWorkerSet."""
        return [each.document for each in self.revisions.store.by_index(_OWNER, lws.metadata.uid)]

    def leader_set(self, lws: Whole[LeaderWorkerSet]) -> Whole[StatefulSet] | None:
        """The StatefulSet of its leaders, None when there is none or one of another owner."""
        found = self.sets.store.get(*lws.metadata.key)
        return found if found is not None and owner_uid(found.metadata) == lws.metadata.uid else None

    def leaders(self, leader_set: Whole[StatefulSet] | None) -> list[Whole[Pod]]:
        """The leader pods that it made."""
        if leader_set is None:
            return []
        made = self.pods.store.by_index(_OWNER, leader_set.metadata.uid)
        return [pod for pod in made if pod.metadata.label(LWS_WORKER_INDEX) == LEADER_INDEX]

    def worker_set(self, leader: Whole[Pod]) -> Whole[StatefulSet] | None:
        """The StatefulSet of a leader's workers."""
        return next(iter(self.sets.store.by_index(_OWNER, leader.metadata.uid)), None)

    def workers(self, worker_set: Whole[StatefulSet] | None) -> list[Whole[Pod]]:
        """The workers that it made."""
        return [] if worker_set is None else self.pods.store.by_index(_OWNER, worker_set.metadata.uid)

    def group(self, leader: Whole[Pod], key: str, *, size: int) -> Group:
        """How a group stands towards the revision with that key."""
        workers = self.worker_set(leader)
        view = leader.view
        ready = view.status.phase == "Running" and view.is_ready
        updated = key_of(leader.document) == key
        if size > 1:
            ready = ready and workers is not None and is_ready(workers.view)
            updated = updated and workers is not None and key_of(workers.document) == key
        index = int(leader.metadata.label(LWS_GROUP_INDEX) or 0)
        return Group(index, ready=ready, updated=updated, has_workers=size == 1 or workers is not None)


def states(groups: list[Group], count: int) -> list[GroupState]:
    """The groups by index, for as many as there are leaders; those that are not whole are neither."""
    made = [GroupState()] * count
    for group in groups:
        if group.has_workers and group.index < count:
            made[group.index] = GroupState(ready=group.ready, updated=group.updated)
    return made


def is_ready(workers: StatefulSet) -> bool:
    """Whether all workers of a group are available."""
    return workers.status.available_replicas == workers.spec.replicas


def owner_uid(metadata: Metadata) -> str:
    """UID of the object's controller, "" when it has none."""
    owner = controller_of(metadata)
    return "" if owner is None else owner.uid
