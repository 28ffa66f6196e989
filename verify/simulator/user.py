"""Carries out what users and administrators do. Their requests take no time and are never lost; what makes no sense is left out."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

import msgspec
import orjson

from kube.client.client import PatchKind
from kube.client.resources import JOBS, LEADER_WORKER_SETS, NODES, PODS, Resource
from kube.outside import utc_now
from localcluster.apiserver.http import Reply
from localcluster.controllers.times import render_time
from localcluster.lifecycle import HollowPod
from localcluster.podstatus import ended_patch
from verify.simulator import manifests
from verify.simulator.actions import (
    Action,
    AddNode,
    Cordon,
    CreateJob,
    CreateSet,
    DeleteJob,
    DeletePod,
    DeleteSet,
    FailPod,
    ForeignPod,
    RemoveNode,
    Resize,
    ScaleSet,
    Suspend,
)
from verify.simulator.manifests import NAMESPACE
from verify.simulator.server import MASTER, Asked, Server

Propagation = Literal["Background", "Orphan"]

KILLED: Final = 137


class User:
    """Somebody with all rights."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ways: dict[type[Action], Callable[[Any], Awaitable[None]]] = {
            AddNode: self._add_node,
            RemoveNode: self._remove_node,
            Cordon: self._cordon,
            CreateJob: self._create_job,
            DeleteJob: self._delete_job,
            Suspend: self._suspend,
            Resize: self._resize,
            DeletePod: self._delete_pod,
            FailPod: self._fail_pod,
            ForeignPod: self._foreign_pod,
            CreateSet: self._create_set,
            ScaleSet: self._scale_set,
            DeleteSet: self._delete_set,
        }

    def can(self, action: Action) -> bool:
        """Whether it is something that users do."""
        return type(action) in self._ways

    async def do(self, action: Action) -> None:
        """Do it, if it still makes sense."""
        await self._ways[type(action)](action)

    async def create(self, resource: Resource, body: dict[str, Any], namespace: str | None = None) -> Reply:
        """Create an object; the answer, whatever it is."""
        return await self._ask("POST", resource.path(namespace), body)

    async def delete(
        self, resource: Resource, name: str, namespace: str | None = None, *, propagation: Propagation = "Background"
    ) -> Reply:
        """Delete an object, and what it owns in the background, or without that."""
        return await self._ask("DELETE", resource.path(namespace, name), {"propagationPolicy": propagation})

    async def patch(self, resource: Resource, name: str, namespace: str | None, body: dict[str, Any]) -> Reply:
        """Change some fields."""
        return await self._ask("PATCH", resource.path(namespace, name), body, PatchKind.MERGE.value)

    async def _ask(self, method: str, path: str, body: object, media_type: str = "application/json") -> Reply:
        reply = await self._server.answer(Asked(method, path, {}, orjson.dumps(body), media_type, MASTER))
        assert isinstance(reply, Reply)  # noqa: S101 (nobody watches here)
        return reply

    # --- nodes -------------------------------------------------------------------------------------------------------

    async def _add_node(self, action: AddNode) -> None:
        await self.create(NODES, manifests.node(action, render_time(utc_now())))

    async def _remove_node(self, action: RemoveNode) -> None:
        await self.delete(NODES, manifests.node_name(action.node))

    async def _cordon(self, action: Cordon) -> None:
        await self.patch(NODES, manifests.node_name(action.node), None, {"spec": {"unschedulable": action.on}})

    async def _foreign_pod(self, action: ForeignPod) -> None:
        if action.gone:
            await self.delete(PODS, manifests.foreign_name(action.pod), NAMESPACE)
        elif self._server.store.get(("", "nodes"), "", manifests.node_name(action.node)) is not None:
            await self.create(PODS, manifests.foreign_pod(action), NAMESPACE)

    # --- Jobs --------------------------------------------------------------------------------------------------------

    async def _create_job(self, action: CreateJob) -> None:
        await self.create(JOBS, manifests.job(action), NAMESPACE)

    async def _delete_job(self, action: DeleteJob) -> None:
        propagation: Propagation = "Orphan" if action.orphan else "Background"
        await self.delete(JOBS, manifests.job_name(action.job), NAMESPACE, propagation=propagation)

    async def _suspend(self, action: Suspend) -> None:
        await self.patch(JOBS, manifests.job_name(action.job), NAMESPACE, {"spec": {"suspend": action.on}})

    async def _resize(self, action: Resize) -> None:
        sizes = {"parallelism": action.pods, "completions": action.pods}
        await self.patch(JOBS, manifests.job_name(action.job), NAMESPACE, {"spec": sizes})

    async def _delete_pod(self, action: DeletePod) -> None:
        pod = self._pod_of(action.job, action.index)
        if pod is not None:
            await self.delete(PODS, pod["metadata"]["name"], NAMESPACE)

    async def _fail_pod(self, action: FailPod) -> None:
        pod = self._pod_of(action.job, action.index)
        if pod is None or pod.get("status", {}).get("phase") != "Running":
            return
        hollow = msgspec.convert(pod, HollowPod)
        patch = ended_patch(hollow, exit_code=1, now=render_time(utc_now()))
        path = PODS.path(NAMESPACE, pod["metadata"]["name"], "status")
        await self._ask("PATCH", path, patch, PatchKind.STRATEGIC.value)

    def _pod_of(self, job: int, index: int) -> dict[str, Any] | None:
        """The living pod of that index, if there is one."""
        prefix = f"{manifests.job_name(job)}-{index}-"
        return next(
            (
                each.obj
                for each in self._server.store.list(("", "pods"), NAMESPACE)
                if each.obj["metadata"]["name"].startswith(prefix) and not each.obj["metadata"].get("deletionTimestamp")
            ),
            None,
        )

    # --- LeaderWorkerSets --------------------------------------------------------------------------------------------

    async def _create_set(self, action: CreateSet) -> None:
        await self.create(LEADER_WORKER_SETS, manifests.leader_worker_set(action), NAMESPACE)

    async def _scale_set(self, action: ScaleSet) -> None:
        name = manifests.set_name(action.name)
        await self.patch(LEADER_WORKER_SETS, name, NAMESPACE, {"spec": {"replicas": action.replicas}})

    async def _delete_set(self, action: DeleteSet) -> None:
        await self.delete(LEADER_WORKER_SETS, manifests.set_name(action.name), NAMESPACE)
