"""One hollow kubelet for all hollow nodes: it runs their pods by the clock instead of in containers.

An ordinary client of the API server: two informers (bound pods, hollow nodes), one work queue, writes limited by the
queue's workers. It keeps no state that it could not find again in the API, except when a pod started to run to better
than the second that `startTime` has.
"""

import asyncio
import datetime
import itertools
from collections.abc import Callable
from typing import Final

import msgspec

from api.meta import NO_METADATA, Metadata
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, NotFound
from kube.client.resources import NODES, PODS, RESOURCE_CLAIMS
from kube.outside import monotonic_seconds, new_random, utc_now
from localcluster.lifecycle import Action, HollowPod, Step, next_step
from localcluster.podclaims import HeldClaim, can_start, needed_claims
from localcluster.podstatus import ended_patch, running_patch
from localcluster.shapes import HOLLOW_LABEL

WORKERS: Final = 32
HOST_IP: Final = "10.0.0.1"
DEVICES_AGAIN_SECONDS: Final = 0.5
"""How often a bound pod is looked at that has not got its devices yet."""

Key = tuple[str, str]


class HollowNode(msgspec.Struct, frozen=True):
    """A hollow node; only its name matters."""

    metadata: Metadata = NO_METADATA


def rfc3339_now() -> str:
    """The time as Kubernetes writes it, to the second."""
    return utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")


class Kubelet:
    """Runs the pods of all hollow nodes until cancelled."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = monotonic_seconds) -> None:
        source = new_random()
        self._client = client
        self._clock = clock
        self._running_since: dict[str, float] = {}
        self._addresses: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self.pods = Informer[HollowPod](
            client,
            PODS,
            ListDecoder(HollowPod),
            field_selector="spec.nodeName!=",
            indexers={"node": lambda pod: (pod.spec.node_name,)},
            clock=clock,
            random=source,
        )
        self.nodes = Informer[HollowNode](
            client, NODES, ListDecoder(HollowNode), label_selector=f"{HOLLOW_LABEL}=true", clock=clock, random=source
        )
        self._queue = WorkQueue[Key](self._reconcile, workers=WORKERS, clock=clock, random=source)
        self.pods.add_handler(self._pod_changed)
        self.nodes.add_handler(self._node_changed)

    async def run(self) -> None:
        """Runs the informers and the queue."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.pods.run())
            tasks.create_task(self.nodes.run())
            tasks.create_task(self._queue.run())

    async def synced(self) -> None:
        """Returns once the kubelet knows all pods and nodes."""
        await self.pods.synced.wait()
        await self.nodes.synced.wait()

    def _pod_changed(self, change: Change[HollowPod]) -> None:
        pod = change.new
        if pod is not None:
            self._queue.add(pod.metadata.key)
        elif change.old is not None:
            self._running_since.pop(change.old.metadata.uid, None)
            self._addresses.pop(change.old.metadata.uid, None)

    def _node_changed(self, change: Change[HollowNode]) -> None:
        node = change.new
        if node is not None and change.old is None:
            for pod in self.pods.store.by_index("node", node.metadata.name):
                self._queue.add(pod.metadata.key)

    async def _reconcile(self, key: Key) -> float | None:
        pod = self.pods.store.get(*key)
        if pod is None or self.nodes.store.get("", pod.spec.node_name) is None:
            return None
        step = next_step(
            pod,
            ran_seconds=self._ran_seconds(pod),
            terminating_seconds=_seconds_since(pod.metadata.deletion_timestamp),
        )
        if step.action is Action.WAIT:
            return step.seconds
        if step.action is not Action.NOTHING:
            try:
                if step.action is Action.RUN and not await self._has_devices(pod):
                    return DEVICES_AGAIN_SECONDS
                await self._act(pod, step)
            except (Conflict, NotFound):
                return None  # another pod has the name by now; its own event brings it here
        return None

    async def _has_devices(self, pod: HollowPod) -> bool:
        """Whether all claims of the pod are allocated and reserved for it; they are asked for when they are needed."""
        names = needed_claims(pod.spec, pod.status)
        if not names:
            return names is not None
        claims = [await self._claim(name, pod.metadata.namespace) for name in names]
        return can_start(pod.metadata.uid, claims)

    async def _claim(self, name: str, namespace: str) -> HeldClaim | None:
        try:
            found = await self._client.get(RESOURCE_CLAIMS, name, namespace)
        except NotFound:
            return None
        return msgspec.convert(found, HeldClaim)

    async def _act(self, pod: HollowPod, step: Step) -> None:
        namespace, name = pod.metadata.key
        if step.action is Action.REMOVE:
            await self._client.delete(PODS, name, namespace, uid=pod.metadata.uid, grace_seconds=0)
            return
        if step.action is Action.RUN:
            self._running_since[pod.metadata.uid] = self._clock()
            patch = running_patch(pod, pod_ip=self._address(pod), host_ip=HOST_IP, now=rfc3339_now())
        else:
            patch = ended_patch(pod, exit_code=step.exit_code, now=rfc3339_now())
        await self._client.patch(
            PODS, patch, name, namespace, subresource="status", kind=PatchKind.STRATEGIC, parse=False
        )

    def _ran_seconds(self, pod: HollowPod) -> float:
        uid = pod.metadata.uid
        if pod.status.phase == "Running" and uid not in self._running_since:
            self._running_since[uid] = self._clock() - _seconds_since(pod.status.start_time)
        return self._clock() - self._running_since.get(uid, self._clock())

    def _address(self, pod: HollowPod) -> str:
        """The pod's address, the same for every attempt: lists of addresses are merged, a second one would be refused."""
        number = self._addresses.setdefault(pod.metadata.uid, next(self._numbers))
        return pod.status.pod_ip or f"10.{128 | (number >> 16) & 127}.{(number >> 8) & 255}.{number & 255}"


def _seconds_since(rfc3339: str | None) -> float:
    if rfc3339 is None:
        return 0.0
    started = datetime.datetime.fromisoformat(rfc3339)
    return max(0.0, (utc_now() - started).total_seconds())
