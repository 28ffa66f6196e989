"""LeaderWorkerSets as users write them, the controller that runs them, and what tests ask about them afterwards."""

import os
import sys
from pathlib import Path
from typing import Any

from verify.clusters.client import Api, ApiError
from verify.clusters.cluster_files import CONTROLLER_MANAGER
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import POD_GROUP, condition
from verify.clusters.server import Server

Object = dict[str, Any]

MANAGED = "tutti.scheduler/managed"
PREFIX = "leaderworkerset.sigs.k8s.io/"
NAME, INDEX, WORKER = f"{PREFIX}name", f"{PREFIX}group-index", f"{PREFIX}worker-index"
REVISION = f"{PREFIX}template-revision-hash"
CRD = "leaderworkersets.leaderworkerset.x-k8s.io"
REPOSITORY = Path(__file__).parents[2]
SERVED_SECONDS = 60
SETTLE_SECONDS = 40


def leader_worker_set(
    name: str,
    *,
    replicas: int = 1,
    size: int = 3,
    cpu: str = "1",
    annotations: dict[str, str] | None = None,
    leader_cpu: str | None = None,
    rollout: Object | None = None,
    template: Object | None = None,
    pod_annotations: dict[str, str] | None = None,
    **spec: object,
) -> Object:
    """A LeaderWorkerSet whose pods each ask for some CPU; with `leader_cpu` leaders have a template of their own."""

    def pods(amount: str) -> Object:
        container = {
            "name": "main",
            "image": "registry.example/server:1",
            "resources": {"requests": {"cpu": amount, "memory": "64Mi"}},
        }
        return {"metadata": {"annotations": dict(pod_annotations or {})}, "spec": {"containers": [container]}}

    templates: Object = {"size": size, "workerTemplate": pods(cpu), **(template or {})}
    if leader_cpu is not None:
        templates["leaderTemplate"] = pods(leader_cpu)
    strategy = {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rollout}} if rollout else {}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": templates, **strategy, **spec},
    }


def controller_process(control_plane: ControlPlane) -> Server:
    """The stand-in of the LeaderWorkerSet controller, for a control plane that runs none."""
    kubeconfig = str(control_plane.kubeconfig_of(CONTROLLER_MANAGER))
    return Server(
        "LeaderWorkerSet controller",
        [sys.executable, "-m", "localcluster.controllers", "--only", "leaderworkerset", "--kubeconfig", kubeconfig],
        log=control_plane.folder / "leaderworkerset.log",
        environment={"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))},
    )


def is_served(api: Api) -> bool:
    """Whether LeaderWorkerSets can be created, and come back with the defaults of their own webhook."""
    try:
        made = api.create("leaderworkersets", leader_worker_set("probe"), "default", dry_run=True)
    except ApiError:
        return False
    return "networkConfig" in made["spec"]


def is_followed(api: Api) -> bool:
    """Whether Tutti makes a group for a replica: it watches the kind, which it may have met a moment ago."""
    if api.find("leaderworkersets", "probe", "default") is None:
        api.create("leaderworkersets", leader_worker_set("probe", replicas=0), "default")
    reference = {"apiGroup": "leaderworkerset.x-k8s.io", "kind": "LeaderWorkerSet", "name": "probe"}
    found = [w for w in api.list("workloads", "default") if w["spec"].get("controllerRef") == reference]
    if not found:
        return False
    api.delete("leaderworkersets", "probe", "default")
    return True


class Sets:
    """The LeaderWorkerSets of one namespace: what became of them."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def create(self, lws: Object) -> Object:
        """Creates a LeaderWorkerSet."""
        return self.api.create("leaderworkersets", lws, self.namespace)

    def get(self, name: str) -> Object:
        """The LeaderWorkerSet."""
        return self.api.get("leaderworkersets", name, self.namespace)

    def change(self, name: str, **spec: object) -> Object:
        """Changes fields of its spec."""
        return self.api.patch("leaderworkersets", name, {"spec": spec}, self.namespace)

    def new_revision(self, name: str, **template: object) -> Object:
        """Starts a rollout by another image, and by whatever else changes in the templates."""
        templates = self.get(name)["spec"]["leaderWorkerTemplate"]
        worker = templates["workerTemplate"]
        container = {**worker["spec"]["containers"][0], "image": f"{worker['spec']['containers'][0]['image']}1"}
        changed = {**worker, "spec": {**worker["spec"], "containers": [container]}}
        return self.change(name, leaderWorkerTemplate={"workerTemplate": changed, **template})

    def pods(self, name: str, index: int | None = None) -> list[Object]:
        """Its pods, or those of one replica, without those that are leaving."""
        labels = f"{NAME}={name}" + (f",{INDEX}={index}" if index is not None else "")
        found = self.api.list("pods", self.namespace, labels=labels)
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def leader(self, name: str, index: int = 0) -> Object:
        """The leader of a replica; AssertionError when there is none."""
        found = [pod for pod in self.pods(name, index) if pod["metadata"]["labels"].get(WORKER) == "0"]
        assert len(found) == 1, f"replica {index} of {name} has {len(found)} leaders"
        return found[0]

    def bound(self, name: str, index: int | None = None) -> int:
        """How many of its pods have a node."""
        return sum(1 for pod in self.pods(name, index) if pod["spec"].get("nodeName"))

    def size(self, name: str) -> int:
        """Pods of a replica."""
        return int(self.get(name)["spec"]["leaderWorkerTemplate"]["size"])

    def whole(self, name: str, *indices: int) -> bool:
        """Whether every pod of these replicas (or of all) is bound."""
        size = self.size(name)
        wanted = indices or range(self.get(name)["spec"]["replicas"])
        return all(self.bound(name, index) == size for index in wanted)

    def waits(self, name: str, index: int = 0, *, pods: int | None = None) -> bool:
        """Whether all pods of a replica exist (or as many as given) and none of them is bound."""
        wanted = self.size(name) if pods is None else pods
        # Read once: between two lists an old pod may go and a new one come.
        found = self.pods(name, index)
        return len(found) == wanted and not any(pod["spec"].get("nodeName") for pod in found)

    def available(self, name: str) -> bool:
        """Whether the set says that all its replicas are there, in their newest revision."""
        found = self.get(name)
        status, spec = found.get("status", {}), found["spec"]
        is_settled = status.get("updatedReplicas") == status.get("readyReplicas") == spec["replicas"]
        return is_settled and condition(found, "Available") == "True" and condition(found, "UpdateInProgress") != "True"

    def groups(self, name: str) -> list[Object]:
        """The PodGroups of its replicas, by index."""
        found = self.api.list("podgroups", self.namespace, labels=f"{NAME}={name}")
        return sorted(found, key=lambda group: int(group["metadata"]["labels"][INDEX]))

    def group(self, name: str) -> Object:
        """The PodGroup of the only replica; AssertionError when there are none or several."""
        found = self.groups(name)
        assert len(found) == 1, f"LeaderWorkerSet {name} has {len(found)} PodGroups"
        return found[0]

    def workloads(self, name: str) -> list[Object]:
        """The Workloads that refer to a LeaderWorkerSet of this name."""
        reference = {"apiGroup": "leaderworkerset.x-k8s.io", "kind": "LeaderWorkerSet", "name": name}
        return [w for w in self.api.list("workloads", self.namespace) if w["spec"].get("controllerRef") == reference]

    def sound(self, name: str, *, min_count: int | None = None) -> bool:
        """Whether each replica has exactly one group: its leader's by UID, of its revision, with the right minimum."""
        wanted = self.size(name) if min_count is None else min_count
        leaders = [pod for pod in self.pods(name) if pod["metadata"]["labels"].get(WORKER) == "0"]
        groups = self.groups(name)
        by_owner = {group["metadata"]["ownerReferences"][0]["uid"]: group for group in groups}
        assert len(by_owner) == len(groups) == len(leaders), f"{len(groups)} groups for {len(leaders)} leaders"
        for leader in leaders:
            expect_sound(by_owner[leader["metadata"]["uid"]], leader, wanted)
        for pod in self.pods(name):
            assert pod["metadata"]["annotations"].get(POD_GROUP) in {g["metadata"]["name"] for g in groups}
        return True

    def events(self, name: str, reason: str) -> list[str]:
        """The notes of the events with this reason about a LeaderWorkerSet."""
        return [
            event.get("note", "")
            for event in self.api.list("events", self.namespace)
            if event["reason"] == reason
            and event["regarding"].get("kind") == "LeaderWorkerSet"
            and event["regarding"].get("name") == name
        ]

    def remove(self, name: str) -> None:
        """Deletes the set and waits until nothing of it is left."""
        self.api.delete("leaderworkersets", name, self.namespace, propagation="Foreground")
        eventually(lambda: not self.groups(name), within_seconds=SETTLE_SECONDS)


def expect_sound(group: Object, leader: Object, min_count: int) -> None:
    """The group of a replica is what the source documents say."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": leader["metadata"]["name"], "uid": leader["metadata"]["uid"]}
    assert group["metadata"]["ownerReferences"] == [owner | {"controller": True}]
    for key in (NAME, INDEX, REVISION):
        assert group["metadata"]["labels"][key] == leader["metadata"]["labels"][key]
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": min_count}}
    assert group["metadata"]["name"] == leader["metadata"]["annotations"][POD_GROUP]
