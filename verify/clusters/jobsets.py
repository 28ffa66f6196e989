"""JobSets as users write them, the controller that runs them, and what tests ask about them afterwards."""

import os
import sys
from pathlib import Path
from typing import Any

from verify.clusters.client import Api, ApiError
from verify.clusters.cluster_files import CONTROLLER_MANAGER
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import POD_GROUP, RUN_SECONDS
from verify.clusters.server import Server

Object = dict[str, Any]

PREFIX = "jobset.sigs.k8s.io/"
NAME, ATTEMPT, PART = f"{PREFIX}jobset-name", f"{PREFIX}restart-attempt", f"{PREFIX}replicatedjob-name"
SCOPE = "tutti.scheduler/scope"
REPOSITORY = Path(__file__).parents[2]
SERVED_SECONDS = 60
SETTLE_SECONDS = 40


def part(
    name: str,
    *,
    replicas: int = 1,
    pods: int = 1,
    cpu: str = "1",
    run_seconds: float | None = None,
    annotations: dict[str, str] | None = None,
    **more: object,
) -> Object:
    """A replicated Job whose pods each ask for some CPU."""
    ends = {} if run_seconds is None else {RUN_SECONDS: f"{run_seconds:g}"}
    container = {
        "name": "main",
        "image": "registry.example/worker:1",
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
    }
    template = {"metadata": {"annotations": ends}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"parallelism": pods, "completions": pods, "backoffLimit": 0}
    job = {"metadata": {"annotations": dict(annotations or {})}, "spec": {**spec, "template": template}}
    return {"name": name, "replicas": replicas, "template": job, **more}


def job_set(name: str, *parts: Object, scope: str | None = None, **spec: object) -> Object:
    """A JobSet."""
    annotations = {SCOPE: scope} if scope else {}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"replicatedJobs": list(parts), **spec},
    }


def jobset_controller(control_plane: ControlPlane) -> Server:
    """The stand-in of the JobSet controller, for a control plane that runs none."""
    kubeconfig = str(control_plane.kubeconfig_of(CONTROLLER_MANAGER))
    return Server(
        "JobSet controller",
        [sys.executable, "-m", "localcluster.controllers", "--only", "jobset", "--kubeconfig", kubeconfig],
        log=control_plane.folder / "jobset.log",
        environment={"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))},
    )


def are_served(api: Api) -> bool:
    """Whether JobSets can be created, and come back with the defaults of their own webhook."""
    try:
        made = api.create("jobsets", job_set("probe", part("one")), "default", dry_run=True)
    except ApiError:
        return False
    return bool(made["spec"]["replicatedJobs"][0]["template"]["spec"].get("completionMode"))


def are_followed(api: Api) -> bool:
    """Whether Tutti makes the groups of a JobSet: it watches the kind, which it may have met a moment ago."""
    if api.find("jobsets", "probe", "default") is None:
        # Its pods fit on no node: it waits, and nobody else is concerned.
        api.create("jobsets", job_set("probe", part("one", pods=2, cpu="10000"), scope="set"), "default")
    if not api.list("podgroups", "default", labels=f"{NAME}=probe"):
        return False
    api.delete("jobsets", "probe", "default", propagation="Foreground")
    eventually(lambda: not api.list("jobs", "default", labels=f"{NAME}=probe"), within_seconds=SETTLE_SECONDS)
    return True


class JobSets:
    """The JobSets of one namespace: what became of them."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def create(self, jobset: Object) -> Object:
        """Creates a JobSet."""
        return self.api.create("jobsets", jobset, self.namespace)

    def get(self, name: str) -> Object:
        """The JobSet."""
        return self.api.get("jobsets", name, self.namespace)

    def suspend(self, name: str, value: bool) -> None:
        """Suspends or resumes it."""
        self.api.patch("jobsets", name, {"spec": {"suspend": value}}, self.namespace)

    def children(self, name: str) -> list[Object]:
        """Its Jobs that are not leaving, by name."""
        found = self.api.list("jobs", self.namespace, labels=f"{NAME}={name}")
        return sorted((job for job in found if not _leaves(job)), key=lambda job: str(job["metadata"]["name"]))

    def pods(self, name: str, part: str | None = None) -> list[Object]:
        """Its pods, or those of one replicated Job, without those that are leaving."""
        labels = f"{NAME}={name}" + (f",{PART}={part}" if part is not None else "")
        return [pod for pod in self.api.list("pods", self.namespace, labels=labels) if not _leaves(pod)]

    def bound(self, name: str, part: str | None = None) -> int:
        """How many of its pods have a node."""
        return sum(1 for pod in self.pods(name, part) if pod["spec"].get("nodeName"))

    def waits(self, name: str, pods: int) -> bool:
        """Whether so many of its pods exist and none has a node."""
        # Read once: between two lists an old pod may go and a new one come.
        found = self.pods(name)
        return len(found) == pods and not any(pod["spec"].get("nodeName") for pod in found)

    def groups(self, name: str) -> list[Object]:
        """Its PodGroups that are not leaving, by name."""
        found = self.api.list("podgroups", self.namespace, labels=f"{NAME}={name}")
        return sorted((each for each in found if not _leaves(each)), key=lambda each: str(each["metadata"]["name"]))

    def minimums(self, name: str) -> list[int]:
        """The minimum of each of its PodGroups."""
        return [int(each["spec"]["schedulingPolicy"]["gang"]["minCount"]) for each in self.groups(name)]

    def are_grouped(self, name: str) -> bool:
        """Whether each pod names a PodGroup of the JobSet."""
        names = {group["metadata"]["name"] for group in self.groups(name)}
        return all(pod["metadata"]["annotations"].get(POD_GROUP) in names for pod in self.pods(name))

    def events(self, name: str, reason: str) -> list[str]:
        """The notes of the events with this reason about a JobSet."""
        return [
            event.get("note", "")
            for event in self.api.list("events", self.namespace)
            if event["reason"] == reason
            and event["regarding"].get("kind") == "JobSet"
            and event["regarding"].get("name") == name
        ]

    def fail(self, pod: Object) -> None:
        """Its kubelet says that this pod has failed."""
        meta = pod["metadata"]
        path = f"{self.api.path('pods', meta['namespace'], meta['name'])}/status"
        self.api.request("PATCH", path, {"status": {"phase": "Failed"}}, kind="merge")

    def remove(self, name: str) -> None:
        """Deletes the JobSet and waits until nothing of it is left."""
        self.api.delete("jobsets", name, self.namespace, propagation="Foreground")
        for kind in ("jobs", "pods", "podgroups"):
            eventually(
                lambda each=kind: not self.api.list(each, self.namespace, labels=f"{NAME}={name}"),  # type: ignore[misc]
                within_seconds=SETTLE_SECONDS,
            )
        eventually(lambda: not self.api.list("workloads", self.namespace), within_seconds=SETTLE_SECONDS)


def _leaves(found: Object) -> bool:
    return "deletionTimestamp" in found["metadata"]
