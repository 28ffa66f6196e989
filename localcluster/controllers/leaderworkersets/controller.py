"""The LeaderWorkerSet controller with its webhooks. A stand-in for the one of github.com/kubernetes-sigs/lws.

Two queues: one of LeaderWorkerSets, one of groups, whose key is the name of the leader pod. Workers are looked at only as
part of their group.
"""

import random as randomness
from collections.abc import Callable
from typing import Final

from api.constants import LEADER_INDEX, LWS_NAME, LWS_WORKER_INDEX
from api.meta import Metadata, controller_of
from kube.cache.decoding import ObjectHead
from kube.cache.informer import Change
from kube.cache.store import Key
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.events import EventRecorder
from kube.client.resources import PODS, STATEFUL_SETS
from localcluster.controllers.admission.server import Serve, serving
from localcluster.controllers.documents import Whole
from localcluster.controllers.following import follow
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.leaderworkersets.admission.review import answer
from localcluster.controllers.leaderworkersets.groups import GroupReconciler
from localcluster.controllers.leaderworkersets.installation import INSTALLATION
from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet
from localcluster.controllers.leaderworkersets.object_control import ObjectControl
from localcluster.controllers.leaderworkersets.sets import SetReconciler
from localcluster.controllers.leaderworkersets.view import View
from localcluster.controllers.statefulsets.model import StatefulSet
from localcluster.controllers.times import Now

WORKERS: Final = 16


class LeaderWorkerSetController:
    """Runs LeaderWorkerSets until cancelled."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        *,
        now: Now,
        clock: Callable[[], float],
        random: randomness.Random,
        serve: Serve = serving,
    ) -> None:
        self._client = client
        self._serve = serve
        control = ObjectControl(client, recorder)
        self.view = View(client, clock=clock, random=random)
        self._reconcile_group = GroupReconciler(self.view, control, client)
        self._sets = WorkQueue[Key](SetReconciler(self.view, control, now), workers=WORKERS, clock=clock, random=random)
        self._groups = WorkQueue[Key](self._reconcile_group, workers=WORKERS, clock=clock, random=random)
        self.view.lws.add_handler(self._lws_changed)
        self.view.sets.add_handler(self._set_changed)
        self.view.pods.add_handler(self._pod_changed)
        self.view.services.add_handler(self._service_changed)

    async def run(self) -> None:
        """Installs the kind and the webhooks, then runs the informers and the queues."""
        await INSTALLATION.define(self._client)
        async with self._serve("lws", answer) as admission, INSTALLATION.registered(self._client, admission):
            await follow(self.view.informers, self._sets, self._groups)

    def _lws_changed(self, change: Change[Whole[LeaderWorkerSet]]) -> None:
        lws = change.new
        if lws is None:
            return
        self._sets.add(lws.metadata.key)
        for leader in self.view.leaders(self.view.leader_set(lws)):
            self._groups.add(leader.metadata.key)

    def _set_changed(self, change: Change[Whole[StatefulSet]]) -> None:
        found = change.new or change.old
        if found is None:
            return
        self._add_set_of(found.metadata)
        owner = controller_of(found.metadata)
        if owner is not None and owner.kind == PODS.kind:
            self._groups.add((found.metadata.namespace, owner.name))

    def _pod_changed(self, change: Change[Whole[Pod]]) -> None:
        pod = change.new or change.old
        if pod is None:
            return
        if pod.metadata.label(LWS_WORKER_INDEX) == LEADER_INDEX:
            self._add_set_of(pod.metadata)
            self._groups.add(pod.metadata.key)
            return
        owner = controller_of(pod.metadata)
        if owner is None or owner.kind != STATEFUL_SETS.kind:
            return
        group = (pod.metadata.namespace, owner.name)  # a leader's workers' StatefulSet has its name
        if change.new is None:
            self._reconcile_group.lose(group, pod.view)
        self._groups.add(group)

    def _service_changed(self, change: Change[ObjectHead]) -> None:
        service = change.new or change.old
        owner = controller_of(service.metadata) if service is not None else None
        if service is None or owner is None or change.new is not None:
            return
        if owner.kind == PODS.kind:
            self._groups.add((service.metadata.namespace, owner.name))
        else:
            self._add_set_of(service.metadata)

    def _add_set_of(self, metadata: Metadata) -> None:
        name = metadata.label(LWS_NAME)
        if name:
            self._sets.add((metadata.namespace, name))
