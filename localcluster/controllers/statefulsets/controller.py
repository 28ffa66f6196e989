"""The StatefulSet controller: looks at one set at a time, decides, writes. A stand-in for the stock one.

A set's pods are those whose controller is the set, by UID; pods of other makers are never adopted. While a change made
here has not come back by the watch, nothing is decided for that set.
"""

import random as randomness
from collections.abc import Callable
from typing import Final

from api.meta import Metadata, controller_of
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.store import Key
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, NotFound
from kube.client.events import EventRecorder
from kube.client.resources import CONTROLLER_REVISIONS, PODS, STATEFUL_SETS
from localcluster.controllers.documents import Whole, WholeDecoder
from localcluster.controllers.expectations import Expectations
from localcluster.controllers.following import follow
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.statefulsets.history import History, drop, sync_revisions
from localcluster.controllers.statefulsets.model import POD_NAME_LABEL, Revision, StatefulSet, revision_of
from localcluster.controllers.statefulsets.plan import plan_pods
from localcluster.controllers.statefulsets.pod_control import StatefulPodControl
from localcluster.controllers.statefulsets.revisions import superfluous
from localcluster.controllers.statefulsets.status import status_of
from localcluster.controllers.times import Now

WORKERS: Final = 16
CHANGED_SECONDS: Final = 0.05
"""When to look again after the set changed meanwhile: its new version is on its way here."""

LOOK_AGAIN_SECONDS: Final = 1.0
"""When to look again while something done here has not shown up yet, or a name is still taken."""


class StatefulSetController:
    """Runs StatefulSets until cancelled."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        *,
        now: Now,
        clock: Callable[[], float],
        random: randomness.Random,
    ) -> None:
        self._client = client
        self._now = now
        self._clock = clock
        self._pod_control = StatefulPodControl(client, recorder)
        self._expectations: dict[str, Expectations] = {}
        self.sets = Informer[Whole[StatefulSet]](
            client, STATEFUL_SETS, WholeDecoder(StatefulSet), clock=clock, random=random
        )
        self.pods = Informer[Pod](
            client,
            PODS,
            ListDecoder(Pod),
            label_selector=POD_NAME_LABEL,
            indexers={"set": lambda pod: (set_uid(pod.metadata),)},
            clock=clock,
            random=random,
        )
        self.revisions = Informer[Whole[Revision]](
            client,
            CONTROLLER_REVISIONS,
            WholeDecoder(Revision),
            indexers={"set": lambda revision: (set_uid(revision.metadata),)},
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[Key](self._look, workers=WORKERS, clock=clock, random=random)
        self.sets.add_handler(self._set_changed)
        self.pods.add_handler(self._pod_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.sets, self.pods, self.revisions), self._queue)

    def _set_changed(self, change: Change[Whole[StatefulSet]]) -> None:
        whole = change.new or change.old
        if whole is None:
            return
        if change.new is None:
            self._expectations.pop(whole.metadata.uid, None)
        self._queue.add(whole.metadata.key)

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.new or change.old
        owner = controller_of(pod.metadata) if pod is not None else None
        if pod is not None and owner is not None and owner.kind == STATEFUL_SETS.kind:
            self._queue.add((pod.metadata.namespace, owner.name))

    async def _look(self, key: Key) -> float | None:
        whole = self.sets.store.get(*key)
        if whole is None or whole.metadata.is_terminating:
            return None
        expectations = self._expectations.setdefault(whole.metadata.uid, Expectations())
        pods = {pod.metadata.uid: pod for pod in self.pods.store.by_index("set", whole.metadata.uid)}
        if not expectations.satisfied(whole.metadata.resource_version, pods, self._clock()):
            return LOOK_AGAIN_SECONDS
        try:
            return await self._act(whole, list(pods.values()), expectations)
        except Conflict:
            return CHANGED_SECONDS
        except NotFound:
            return LOOK_AGAIN_SECONDS  # the set, or something of its, is gone, and we shall hear of it

    async def _act(self, whole: Whole[StatefulSet], pods: list[Pod], expectations: Expectations) -> float | None:
        view, now = whole.view, self._now()
        known = [each.document for each in self.revisions.store.by_index("set", whole.metadata.uid)]
        history = await sync_revisions(self._client, whole.document, known)
        plan = plan_pods(view, pods, history.names, now)
        expectations.since = self._clock()
        error = await self._pod_control.carry_out(whole.document, history, plan, expectations)
        status = status_of(view, pods, history.names, history.collisions, now)
        if status != view.status:
            document = await self._pod_control.write_status(whole.document, status)
            expectations.version = int(document["metadata"]["resourceVersion"])
        if isinstance(error, AlreadyExists):
            return LOOK_AGAIN_SECONDS
        if error is not None:
            raise error
        await self._forget_old(whole, pods, history, known)
        waits = view.spec.min_ready_seconds > 0 and status.available_replicas < len(pods)
        return LOOK_AGAIN_SECONDS if waits else None

    async def _forget_old(
        self, whole: Whole[StatefulSet], pods: list[Pod], history: History, known: list[dict[str, object]]
    ) -> None:
        live = {history.names.current, history.names.update, *(revision_of(pod) for pod in pods)}
        for revision in superfluous(known, frozenset(live), whole.view.spec.revision_history_limit):
            await drop(self._client, revision)


def set_uid(metadata: Metadata) -> str:
    """UID of the StatefulSet that controls the object, "" when none does."""
    owner = controller_of(metadata)
    return owner.uid if owner is not None and owner.kind == STATEFUL_SETS.kind else ""
