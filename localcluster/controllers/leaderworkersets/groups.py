"""One group: its leader's service, its workers' StatefulSet, and what its restart policy makes of a pod in trouble."""

from typing import Final

from api.constants import LEADER_INDEX, LWS_EXCLUSIVE_TOPOLOGY, LWS_GROUP_INDEX, LWS_NAME, LWS_WORKER_INDEX
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import NODES
from localcluster.controllers.documents import Document, Whole
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.leaderworkersets.manifests import group_service, worker_set
from localcluster.controllers.leaderworkersets.model import LEADER_READY, LeaderWorkerSet
from localcluster.controllers.leaderworkersets.object_control import FAILED_CREATE, ObjectControl
from localcluster.controllers.leaderworkersets.restart import failed_pod
from localcluster.controllers.leaderworkersets.revisions import as_it_was, key_of, latest
from localcluster.controllers.leaderworkersets.view import View, owner_uid

AGAIN_SECONDS: Final = 1.0
"""When to look again at what is not there yet: a revision, a free name, a node's label."""

Key = tuple[str, str]


class GroupReconciler:
    """Brings one group forward; its key is the name of its leader pod."""

    def __init__(self, view: View, control: ObjectControl, client: Client) -> None:
        self._view = view
        self._control = control
        self._client = client
        self._lost: dict[Key, list[Pod]] = {}

    def lose(self, key: Key, worker: Pod) -> None:
        """Notes that a worker of the group is gone."""
        self._lost.setdefault(key, []).append(worker)

    async def __call__(self, key: Key) -> float | None:
        """Looks at the group of that leader; when to look again."""
        lost = self._lost.pop(key, [])
        leader = self._view.pods.store.get(*key)
        lws = self._set_of(leader)
        if leader is None or lws is None:
            return None
        revision = latest(self._view.history(lws), key_of(leader.document))
        if revision is None:
            for worker in lost:
                self.lose(key, worker)
            return AGAIN_SECONDS
        document = as_it_was(lws.document, revision)
        size = int(document["spec"]["leaderWorkerTemplate"].get("size", 1))
        if await self._is_made_again(lws, leader, size, lost):
            return None
        if lws.view.has_own_subdomains and self._view.services.store.get(*key) is None:
            await self._control.create_service(group_service(lws.document, leader.document))
        if leader.metadata.is_terminating or size == 1:
            return None
        if lws.view.spec.startup_policy == LEADER_READY and not leader.view.is_ready:
            return None
        return await self._make_workers(lws, document, leader)

    def _set_of(self, leader: Whole[Pod] | None) -> Whole[LeaderWorkerSet] | None:
        """The LeaderWorkerSet that made a leader, by the chain of owners; None for other pods."""
        if leader is None or leader.metadata.label(LWS_WORKER_INDEX) != LEADER_INDEX:
            return None
        lws = self._view.lws.store.get(leader.metadata.namespace, leader.metadata.label(LWS_NAME) or "")
        leaders = None if lws is None else self._view.leader_set(lws)
        if leaders is None or owner_uid(leader.metadata) != leaders.metadata.uid:
            return None
        return lws

    async def _is_made_again(self, lws: Whole[LeaderWorkerSet], leader: Whole[Pod], size: int, lost: list[Pod]) -> bool:
        workers = self._view.worker_set(leader)
        present = [leader.view, *(pod.view for pod in self._view.workers(workers))]
        own = workers.metadata.uid if workers is not None and not workers.metadata.is_terminating else ""
        gone = [pod for pod in lost if own and owner_uid(pod.metadata) == own]
        pod = failed_pod(lws.view, size, leader.view, present, gone)
        if pod is None:
            return False
        index = leader.metadata.label(LWS_GROUP_INDEX)
        note = f"Pod {pod.metadata.name} failed or went, deleted leader pod {leader.metadata.name} to recreate group {index}"
        await self._control.delete_leader(lws.document, leader.document, note)
        return True

    async def _make_workers(self, lws: Whole[LeaderWorkerSet], document: Document, leader: Whole[Pod]) -> float | None:
        if self._view.worker_set(leader) is not None:
            return None
        topology = None
        key = lws.metadata.annotation(LWS_EXCLUSIVE_TOPOLOGY)
        if key is not None:
            if not leader.view.spec.node_name:
                return None
            value = await self._label_of_node(leader.view.spec.node_name, key)
            if value is None:
                note = f"Failed to create worker statefulset: node {leader.view.spec.node_name} has no label {key}"
                self._control.tell(lws.document, FAILED_CREATE, note, is_warning=True)
                return AGAIN_SECONDS
            topology = (key, value)
        manifest = worker_set(document, leader.document, topology)
        what = f"worker statefulset for leader pod {leader.metadata.name}"
        return None if await self._control.create_set(lws.document, manifest, what) else AGAIN_SECONDS

    async def _label_of_node(self, node: str, key: str) -> str | None:
        try:
            found = await self._client.get(NODES, node)
        except NotFound:
            return None
        value = (found["metadata"].get("labels") or {}).get(key)
        return None if value is None else str(value)
