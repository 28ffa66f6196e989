"""Ends pods of which no kubelet will ever say how they ended: their node is gone, or they are deleted and never had one.

A stand-in for the stock pod garbage collector (upstream: gcOrphaned, gcUnscheduledTerminating).
"""

import random as randomness
from collections.abc import Callable
from typing import Final

from kube.cache.decoding import ListDecoder, ObjectHead
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, NotFound
from kube.client.resources import NODES, PODS
from localcluster.controllers.following import follow
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.times import Now, render_time

GRACE_SECONDS: Final = 5.0
"""A node that is made again within this time keeps its pods; the stock controller waits 40 s, and looks every 20 s at all pods."""


class PodGCController:
    """Ends such pods until cancelled."""

    def __init__(self, client: Client, *, now: Now, clock: Callable[[], float], random: randomness.Random) -> None:
        self._client = client
        self._now = now
        self.nodes = Informer[ObjectHead](client, NODES, ListDecoder(ObjectHead), clock=clock, random=random)
        self.pods = Informer[Pod](
            client,
            PODS,
            ListDecoder(Pod),
            indexers={"node": lambda pod: (pod.spec.node_name,)},
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[tuple[str, str]](self._look, workers=8, clock=clock, random=random)
        self.nodes.add_handler(self._node_changed)
        self.pods.add_handler(self._pod_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.nodes, self.pods), self._queue)

    def _node_changed(self, change: Change[ObjectHead]) -> None:
        if change.new is None and change.old is not None:
            for pod in self.pods.store.by_index("node", change.old.metadata.name):
                self._queue.add_after(pod.metadata.key, GRACE_SECONDS)

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.new
        if pod is not None and not self._has_known_node(pod) and (pod.spec.node_name or pod.metadata.is_terminating):
            self._queue.add_after(pod.metadata.key, GRACE_SECONDS)

    async def _look(self, key: tuple[str, str]) -> float | None:
        pod = self.pods.store.get(*key)
        if pod is None or self._has_known_node(pod):
            return None
        is_left_alone = await self._has_node(pod) if pod.spec.node_name else not pod.metadata.is_terminating
        if is_left_alone:
            return None
        namespace, name = key
        try:
            if pod.status.phase not in {"Succeeded", "Failed"}:
                await self._client.patch(
                    PODS,
                    failed_patch(pod, render_time(self._now())),
                    name,
                    namespace,
                    subresource="status",
                    kind=PatchKind.STRATEGIC,
                    parse=False,
                )
            if not (pod.metadata.is_terminating and pod.metadata.deletion_grace_period_seconds == 0):
                await self._client.delete(PODS, name, namespace, uid=pod.metadata.uid, grace_seconds=0)
        except (NotFound, Conflict):
            return None
        return None

    def _has_known_node(self, pod: Pod) -> bool:
        return self.nodes.store.get("", pod.spec.node_name) is not None

    async def _has_node(self, pod: Pod) -> bool:
        try:
            await self._client.get(NODES, pod.spec.node_name)
        except NotFound:
            return False
        return True


def failed_patch(pod: Pod, stamp: str) -> dict[str, object]:
    """The pod has failed; with its node, if it had one."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
        "lastTransitionTime": stamp,
    }
    conditions = {"conditions": [condition]} if pod.spec.node_name else {}
    return {"metadata": {"uid": pod.metadata.uid}, "status": {"phase": "Failed", **conditions}}
