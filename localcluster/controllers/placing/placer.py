"""Binds pods of the stock scheduler's name, one by one, and says of each that waits why it does.

A decision and the note of what it takes happen in one go, without anything in between, so two pods never get the same room.
A bind whose answer is lost is tried again after a pause: the server binds no pod twice.
"""

import datetime
import random as randomness
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from api.node import Node
from api.pod import Pod
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, KubeError, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import NODES, PODS
from localcluster.controllers.following import follow
from localcluster.controllers.placing.choice import Choice, Demand, Room, choose, demand_of, room_of
from localcluster.controllers.times import Now, render_time

DEFAULT_SCHEDULER: Final = "default-scheduler"
WORKERS: Final = 16
WAKE_SECONDS: Final = 0.2
"""Waiting pods are looked at again so long after something has left or a node has changed."""

Key = tuple[str, str]


class Placer:
    """Places pods until cancelled."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        *,
        now: Now,
        clock: Callable[[], float],
        random: randomness.Random,
        name: str = DEFAULT_SCHEDULER,
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._now = now
        self._name = name
        self._rooms: dict[str, Room] = {}
        self._placed: dict[str, tuple[str, Demand]] = {}
        self._waiting: set[Key] = set()
        self.pods = Informer[Pod](client, PODS, ListDecoder(Pod), clock=clock, random=random)
        self.nodes = Informer[Node](client, NODES, ListDecoder(Node), clock=clock, random=random)
        self._queue = WorkQueue[Key](self._look, workers=WORKERS, clock=clock, random=random)
        self.nodes.add_handler(self._node_changed)
        self.pods.add_handler(self._pod_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.nodes, self.pods), self._queue)

    # --- what is taken -----------------------------------------------------------------------------------------------

    def _node_changed(self, change: Change[Node]) -> None:
        node = change.new
        if node is None:
            if change.old is not None:
                self._rooms.pop(change.old.metadata.name, None)
            return
        name = node.metadata.name
        room = room_of(node)
        for placed, demand in self._placed.values():
            if placed == name:
                room.taken.update(demand.amounts)
        self._rooms[name] = room
        self._wake()

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.new or change.old
        if pod is None:
            return
        if change.new is None or pod.is_terminal:
            self._give_back(pod.metadata.uid)
            self._waiting.discard(pod.metadata.key)
        elif pod.spec.node_name:
            self._take(pod.metadata.uid, pod.spec.node_name, demand_of(pod))
            self._waiting.discard(pod.metadata.key)
        elif pod.spec.scheduler_name == self._name:
            self._queue.add(pod.metadata.key)

    def _take(self, uid: str, node: str, demand: Demand) -> None:
        known = self._placed.get(uid)
        if known is not None and known[0] == node:
            return
        self._give_back(uid)
        self._placed[uid] = (node, demand)
        if node in self._rooms:
            self._rooms[node].taken.update(demand.amounts)

    def _give_back(self, uid: str) -> None:
        node, demand = self._placed.pop(uid, ("", None))
        if demand is None:
            return
        if node in self._rooms:
            self._rooms[node].taken.subtract(Counter(demand.amounts))
        self._wake()

    def _wake(self) -> None:
        for key in self._waiting:
            self._queue.add_after(key, WAKE_SECONDS)

    # --- one pod -----------------------------------------------------------------------------------------------------

    async def _look(self, key: Key) -> float | None:
        pod = self.pods.store.get(*key)
        if pod is None or not self._is_mine(pod):
            self._waiting.discard(key)
            return None
        demand = demand_of(pod)
        choice = choose(demand, self._rooms.values())
        if choice.node is None:
            self._waiting.add(key)
            await self._refuse(pod, choice)
            return None
        self._take(pod.metadata.uid, choice.node, demand)
        try:
            await self._bind(pod, choice.node)
        except (NotFound, Conflict):
            self._give_back(pod.metadata.uid)
        except KubeError:
            self._give_back(pod.metadata.uid)
            raise
        return None

    def _is_mine(self, pod: Pod) -> bool:
        return (
            pod.spec.scheduler_name == self._name
            and not pod.spec.node_name
            and not pod.spec.scheduling_gates
            and not pod.is_terminal
            and not pod.metadata.is_terminating
            and pod.metadata.uid not in self._placed
        )

    async def _bind(self, pod: Pod, node: str) -> None:
        namespace, name = pod.metadata.key
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": pod.metadata.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self._client.create(PODS, body, namespace, name=name, subresource="binding", parse=False)
        self._tell(pod, "Scheduled", f"Successfully assigned {namespace}/{name} to {node}", is_warning=False)

    async def _refuse(self, pod: Pod, choice: Choice) -> None:
        known = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
        if known is not None and known.status == "False" and known.message == choice.refusal:
            return
        namespace, name = pod.metadata.key
        patch = refused_patch(pod, choice.refusal, self._now())
        try:
            await self._client.patch(
                PODS, patch, name, namespace, subresource="status", kind=PatchKind.STRATEGIC, parse=False
            )
        except (NotFound, Conflict):
            return
        self._tell(pod, "FailedScheduling", choice.refusal, is_warning=True)

    def _tell(self, pod: Pod, reason: str, note: str, *, is_warning: bool) -> None:
        meta = pod.metadata
        self._recorder.record(
            ObjectReference("v1", "Pod", meta.namespace, meta.name, meta.uid),
            reason=reason,
            note=note,
            type="Warning" if is_warning else "Normal",
            action="Scheduling",
        )


def refused_patch(pod: Pod, reason: str, now: datetime.datetime) -> dict[str, Any]:
    """The pod's condition says why it waits."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": reason,
        "lastTransitionTime": render_time(now),
    }
    return {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [condition]}}
