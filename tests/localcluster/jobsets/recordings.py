"""What the real JobSet controller did, step by step, and the same steps taken here.

Not compared, because no two runs have the same: UIDs, resourceVersions, times, the random end of pod names, the order in which
replicated Jobs are told in the status.
"""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Container, Iterable
from typing import Any, Final

import pytest

from kube.client.client import Client
from kube.client.errors import AnsweredError, Invalid, NotFound
from kube.client.resources import JOB_SETS, JOBS, NODES, PODS, SERVICES, Resource
from tests.localcluster.leaderworkersets.records import differences
from verify.shared_data import SHARED_DATA

Object = dict[str, Any]
Step = Callable[["Replay"], Awaitable[None]]

NAMESPACE: Final = "default"
PATIENCE_SECONDS: Final = 25.0
OF_SERVER: Final = "kubernetes"
"""The service that a real server makes for itself."""
POOL: Final = "cloud.google.com/gke-nodepool"
"""The exclusive topology of the recordings."""

REFUSED_CHANGE: Final = r'webhook "vjobset\.kb\.io" denied .* is invalid: spec\.replicatedJobs: Invalid value: \['

_SUFFIX: Final = re.compile(r"-[a-z0-9]{5}$")
_RANDOM: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "lastTransitionTime", "managedFields", "generation"}
)
_UIDS: Final = frozenset({"jobset.sigs.k8s.io/jobset-uid", "batch.kubernetes.io/controller-uid", "controller-uid"})


def recording(name: str) -> Object | None:
    """A recording, None where the folder of test data is not."""
    path = SHARED_DATA / "jobset-recorded" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


class Replay:
    """Takes the steps of a recording on a cluster."""

    def __init__(self, client: Client, manifests: list[Object]) -> None:
        self._client = client
        self._manifests = manifests
        self._jobset = next(each["metadata"]["name"] for each in manifests if each["kind"] == "JobSet")

    async def served(self) -> None:
        """Waits until the kind is there."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    await self._client.list(JOB_SETS, NAMESPACE)
                except NotFound:
                    await asyncio.sleep(0.05)
                else:
                    return

    # --- what a step may do --------------------------------------------------------------------------------------------

    async def create(self, **spec: Any) -> None:
        for manifest in self._manifests:
            if manifest["kind"] == "JobSet":
                await self._client.create(JOB_SETS, {**manifest, "spec": {**manifest["spec"], **spec}}, NAMESPACE)

    async def create_refused(self, answer: tuple[int, str]) -> None:
        """JobSet's webhook does not let it in, and says why."""
        with pytest.raises(AnsweredError) as refused:
            await self.create()
        assert (refused.value.status, refused.value.message) == answer

    async def create_beside(self, job: str) -> None:
        """Somebody else's Job has that name already."""
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
        manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job}}
        await self._client.create(JOBS, {**manifest, "spec": {"suspend": True, "template": template}}, NAMESPACE)
        await self.create()

    async def suspend(self, value: bool) -> None:
        await self._client.patch(JOB_SETS, {"spec": {"suspend": value}}, self._jobset, NAMESPACE)

    async def change_child(self, name: str, body: Object) -> None:
        await self._client.patch(JOBS, body, name, NAMESPACE)

    async def change_running_child(self, name: str, body: Object) -> None:
        """Changes what of a Job that runs cannot change."""
        with pytest.raises(Invalid, match=r"spec\.template: Invalid value"):
            await self.change_child(name, body)

    async def change_pods_of(self, part: str, pods: Object) -> None:
        """The pod template of a replicated Job gets these labels and annotations, and these fields of its spec."""
        parts = await self._parts()
        template = _named(parts, part)["template"]["spec"]["template"]
        template["metadata"] = {**(template.get("metadata") or {}), **pods.get("metadata", {})}
        template["spec"] |= pods["spec"]
        await self._client.patch(JOB_SETS, {"spec": {"replicatedJobs": parts}}, self._jobset, NAMESPACE)

    async def fail_to_change_pods_of(self, part: str, pods: Object) -> None:
        """The same of what does not change in a JobSet: its webhook refuses it."""
        with pytest.raises(Invalid, match=REFUSED_CHANGE):
            await self.change_pods_of(part, pods)

    async def fail_to_change_replicas_of(self, part: str, replicas: int) -> None:
        parts = await self._parts()
        _named(parts, part)["replicas"] = replicas
        with pytest.raises(Invalid, match=REFUSED_CHANGE):
            await self._client.patch(JOB_SETS, {"spec": {"replicatedJobs": parts}}, self._jobset, NAMESPACE)

    async def _parts(self) -> list[Object]:
        found = await self._client.get(JOB_SETS, self._jobset, NAMESPACE)
        return list(found["spec"]["replicatedJobs"])

    async def bind(self, job: str, index: str, node: str, pool: str) -> None:
        """The pod of that index of a Job, once it is there, gets this node of that pool."""
        await self._client.create(NODES, {"metadata": {"name": node, "labels": {POOL: pool}}})
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (pods := [each for each in await self.all(PODS) if _is_of(each, job, index)]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        name = pods[0]["metadata"]["name"]
        body = {"metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        await self._client.create(PODS, body, NAMESPACE, name=name, subresource="binding")

    async def ungate(self) -> None:
        """All pods lose their scheduling gates."""
        for pod in await self.all(PODS):
            await self._client.patch(PODS, {"spec": {"schedulingGates": None}}, pod["metadata"]["name"], NAMESPACE)

    async def delete_child(self, name: str, propagation: str) -> None:
        """Deletes a child and waits until another one has its name."""
        uid = (await self._client.get(JOBS, name, NAMESPACE))["metadata"]["uid"]
        await self._client.delete(JOBS, name, NAMESPACE, uid=uid, propagation=propagation)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while uid in [job["metadata"]["uid"] for job in await self.all(JOBS)]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def make(self, phase: str, job: str, *, only: str | None = None) -> None:
        """All living pods of a Job, or the one of that index, are Running and ready, Succeeded or Failed."""
        for pod in await self.all(PODS):
            if not _is_of(pod, job, only):
                continue
            ready = {"type": "Ready", "status": "True" if phase == "Running" else "False"}
            status = {"phase": phase, "conditions": [ready]}
            name = pod["metadata"]["name"]
            await self._client.patch(PODS, {"status": status}, name, NAMESPACE, subresource="status")

    # --- what there is ---------------------------------------------------------------------------------------------------

    async def all(self, resource: Resource) -> list[Object]:
        found = await self._client.list(resource, NAMESPACE)
        return list(found.get("items") or [])

    async def now(self, keys: Object) -> Object:
        """What there is, in the form that recordings are compared in: as much of it as is recorded there."""
        jobs, pods = await self.all(JOBS), await self.all(PODS)
        (jobset,) = await self.all(JOB_SETS)
        found = {
            "jobs": sorted(job["metadata"]["name"] for job in jobs),
            "pods": Counter(f"{stem(pod['metadata']['name'])} {pod['status']['phase']}" for pod in pods),
            "made": made_of(pods, keys.get("made", ())),
            "children": {job["metadata"]["name"]: of_child(job) for job in jobs},
            "status": of_status(jobset.get("status") or {}),
            "services": sorted({each["metadata"]["name"] for each in await self.all(SERVICES)} - {OF_SERVER}),
        }
        return {key: found[key] for key in keys}

    async def becomes(self, expected: Object) -> None:
        """Waits until all is as it was recorded."""
        found: Object = {}
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (found := await self.now(expected)) != expected or await self._moves():  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            found_differences = differences(expected, found) or [f"being deleted: {await self._moves()}"]
        else:
            return
        assert not found_differences, "\n".join(found_differences)

    async def _moves(self) -> list[str]:
        """What is being deleted."""
        there = (*await self.all(JOBS), *await self.all(PODS))
        return [each["metadata"]["name"] for each in there if each["metadata"].get("deletionTimestamp")]


def stem(pod: str) -> str:
    """The name of a pod without its random end."""
    return _SUFFIX.sub("", pod)


def made_of(pods: Iterable[Object], stems: Container[str]) -> Object:
    """What is compared of these pods, by the stem of their names."""
    found: dict[str, list[Object]] = defaultdict(list)
    for pod in pods:
        if (name := stem(pod["metadata"]["name"])) in stems:
            found[name].append(of_pod(pod))
    return {name: sorted(each, key=str) for name, each in found.items()}


def of_pod(pod: Object) -> Object:
    """What is compared of a pod: its marks, and what says where it may go."""
    fields = ("nodeName", "nodeSelector", "affinity", "schedulingGroup", "schedulingGates", "subdomain", "hostNetwork")
    return _marks(pod["metadata"]) | {key: pod["spec"].get(key) for key in fields}


def of_child(job: Object) -> Object:
    """What is compared of a child."""
    meta, spec = job["metadata"], job["spec"]
    template = spec["template"]
    owners = [
        {key: value for key, value in owner.items() if key != "uid"} for owner in meta.get("ownerReferences") or ()
    ]
    pods = {key: template["spec"].get(key) for key in ("restartPolicy", "subdomain", "schedulerName", "nodeSelector")}
    numbers = ("parallelism", "completions", "completionMode", "suspend", "backoffLimit")
    return {
        "owners": owners,
        "marks": [_marks(meta), _marks(template.get("metadata") or {})],
        "spec": {key: spec.get(key) for key in numbers},
        "pods": pods | {"gates": template["spec"].get("schedulingGates"), "more": template["spec"].get("tolerations")},
        "ends": sorted(
            each["type"]
            for each in job.get("status", {}).get("conditions") or ()
            if each["type"] in {"Failed", "Complete"}
        ),
    }


def of_status(status: Object) -> Object:
    """What is compared of a JobSet's status."""
    told = {key: value for key, value in status.items() if key not in {"conditions", "replicatedJobsStatus"}}
    conditions = status.get("conditions") or []
    said = [{key: value for key, value in each.items() if key not in _RANDOM} for each in conditions]
    parts = {each["name"]: each for each in status.get("replicatedJobsStatus") or ()}
    return {**told, "conditions": sorted(said, key=lambda each: str(each["type"])), "parts": parts}


def recorded(step: Object) -> Object:
    """What a recording says there was after a step; what it does not say is not compared."""
    phases = [re.sub(r"-p\d{4} ", " ", each.split(" on ")[0]) for each in step["pods_now"]]
    told: Object = {"jobs": sorted(step["jobs_now"]), "pods": Counter(phases)}
    if "pods" in step:
        told["made"] = made_of(step["pods"], {stem(each["metadata"]["name"]) for each in step["pods"]})
    if "jobs" in step:
        told["children"] = {job["metadata"]["name"]: of_child(job) for job in step["jobs"]}
    if "jobsets" in step:
        told["status"] = of_status(step["jobsets"][0].get("status") or {})
    if "services" in step:
        told["services"] = sorted(each["metadata"]["name"] for each in step["services"])
    return told


def _named(parts: list[Object], name: str) -> Object:
    return next(each for each in parts if each["name"] == name)


def _is_of(pod: Object, job: str, index: str | None) -> bool:
    """Whether it is a living pod of a Job, of this index unless any will do."""
    meta = pod["metadata"]
    mine = meta["labels"].get("batch.kubernetes.io/job-name") == job and not meta.get("deletionTimestamp")
    own = meta["annotations"].get("batch.kubernetes.io/job-completion-index")
    return mine and index in {None, own}


def _marks(metadata: Object) -> Object:
    return {
        kind: {key: value for key, value in (metadata.get(kind) or {}).items() if key not in _UIDS}
        for kind in ("labels", "annotations")
    }
